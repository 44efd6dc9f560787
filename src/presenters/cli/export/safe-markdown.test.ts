import * as fc from 'fast-check'
import { Lexer, type Token } from 'marked'
import { expect, test } from 'vitest'
import { safeMarkdown } from './safe-markdown.ts'

test.each([
  ['# Title', '#### Title\n'],
  ['a **b** _c_ ~~d~~ `e<`', 'a **b** *c* ~~d~~ `e<`\n'],
  ['- a\n- b\n  - c', '- a\n- b\n\n  - c\n'],
  ['3. a\n4. b', '3. a\n4. b\n'],
  ['- [x] done', '- \\[x\\] done\n'],
  ['> quoted\n> text', '> quoted\n> text\n'],
  ['| a | b |\n|---|---|\n| 1 | 2 |', '| a | b |\n| --- | --- |\n| 1 | 2 |\n'],
  ['| a |\n|---|\n| `x\\|y` |', '```text\n| a |\n|---|\n| `x\\|y` |\n```\n'],
  ['[here](https://example.org/)', 'here (`https://example.org/`)\n'],
  ['![x](http://a.b/c.png)', '\\[image: x\\] (`http://a.b/c.png`)\n'],
  ['<b>x</b>', '\\<b\\>x\\</b\\>\n'],
  ['2026\\. A year\n\\- no list', '2026\\. A year\n\\- no list\n'],
])('%j is %j', (source, expected) => {
  expect(safeMarkdown(source)).toBe(expected)
})

/** The types of all tokens, and the depth of each heading. */
function typesIn(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    const own = token.type === 'heading' ? `heading ${token['depth']}` : token.type
    const cells = token.type === 'table' ? [token['header'], ...token['rows']].flat() : []
    const inner: Token[] = [...(token.tokens ?? []), ...(token['items'] ?? [])]
    return [own, ...typesIn(inner), ...cells.flatMap((cell) => typesIn(cell.tokens))]
  })
}

test('nothing is a link, an image, HTML or a heading of the document, for any text', () => {
  const piece = fc.constantFrom(
    ...[
      '`',
      '``',
      '```',
      '\n',
      '\n\n',
      '    ',
      '\t',
      '|',
      '---',
      '- ',
      '1. ',
      '> ',
      '# ',
      '=',
      '\\',
      '*',
      '_',
      '~',
    ],
    ...[
      '<img src=x>',
      '<!--',
      '-->',
      '&lt;',
      '&#96;',
      '![a](b)',
      '[a]: b',
      '[a]',
      'http://a.b',
      'www.a.b',
      'a@b.c',
    ],
  )
  const texts = fc.array(piece, { maxLength: 24 }).map((all) => all.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const types = new Set(typesIn(new Lexer().lex(safeMarkdown(text))))
      const wrong = ['html', 'image', 'link', 'def', 'heading 1', 'heading 2', 'heading 3']
      expect(wrong.filter((type) => types.has(type))).toEqual([])
    }),
    { numRuns: 3_000 },
  )
})
