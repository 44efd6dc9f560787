import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { tokenTypes } from '../../../../test/support/cli/markdown-lexer.ts'
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

const MARKS = '` `` ``` ~~~ \n \n\n | --- = \\ * _ ~ > # - 1.'.split(' ')
const REFERENCES = '![a](b) [a]: [a] (b) http://a.b www.a.b a@b.c <img> <!-- --> &lt; &#96;'.split(
  ' ',
)
const BLANKS = [' ', '    ', '\t', '> ', '# ', '- ', '1. ']

test('nothing is a link, an image, HTML or a heading of the document, for any text', () => {
  const piece = fc.constantFrom(...MARKS, ...REFERENCES, ...BLANKS)
  const texts = fc.array(piece, { maxLength: 24 }).map((all) => all.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      const types = tokenTypes(safeMarkdown(text))
      const wrong = ['html', 'image', 'link', 'def', 'heading 1', 'heading 2', 'heading 3']
      expect(wrong.filter((type) => types.has(type))).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})
