import { expect, test } from 'vitest'
import { paintLine, PLAIN, type Line } from './cell-width.ts'
import { MarkdownStream } from './markdown.ts'

test('headings have no signs, and blocks are separated', () => {
  expect(shown('# One\ntext\nand more\n## Two ##\n***\nThree\n---')).toEqual([
    'One',
    '',
    'text and more',
    '',
    'Two',
    '',
    '─'.repeat(40),
    '',
    'Three',
  ])
  expect(lines('# a *b*\n## c\n### d').filter(({ length }) => length > 0)).toEqual([
    [
      { text: 'a ', style: { bold: true, underline: true } },
      { text: 'b', style: { bold: true, underline: true, italic: true } },
    ],
    [{ text: 'c', style: { bold: true } }],
    [{ text: 'd', style: { bold: true, italic: true } }],
  ])
})

test('emphasis, code, links and images have their styles, and addresses are shown in full', () => {
  expect(lines('**a *b*** ~~c~~ `d  e` [f](http://g.h "i") ![j](k.png)')).toEqual([
    [
      { text: 'a ', style: { bold: true } },
      { text: 'b', style: { bold: true, italic: true } },
      { text: ' ', style: PLAIN },
      { text: 'c', style: { strike: true } },
      { text: ' ', style: PLAIN },
      { text: 'd  e', style: { colour: 'cyan' } },
      { text: ' ', style: PLAIN },
      { text: 'f', style: { underline: true, link: 'http://g.h' } },
      { text: ' (http://g.h)', style: { dim: true, link: 'http://g.h' } },
      { text: ' [image: j]', style: PLAIN },
      { text: ' (k.png)', style: { dim: true } },
    ],
  ])
})

test('an address equal to its text is shown once; a different one cannot hide', () => {
  expect(shown('<https://a.b> https://c.d e@f.g <h@i.j>')).toEqual([
    'https://a.b https://c.d e@f.g h@i.j',
  ])
  expect(shown('[https://good.example](https://evil.example)')).toEqual([
    'https://good.example (https://evil.example)',
  ])
})

test('lists can be nested, numbered and have checkboxes', () => {
  const text =
    '3. three\n4. four\n   - a\n     - b\n   - [x] done\n   - [ ] open and on\n1) other\n* star\n*\n'
  expect(shown(text, 24)).toEqual([
    '3. three',
    '4. four',
    '   - a',
    '     - b',
    '   [x] done',
    '   [ ] open and on',
    '',
    '1. other',
    '',
    '- star',
    '-',
  ])
})

test('items are numbered from the first number of their list, whatever their own numbers are', () => {
  expect(shown('1. a\n1. b\n\n1. c\n\n   d\n\ntext\n\n7. e')).toEqual([
    '1. a',
    '2. b',
    '',
    '3. c',
    '',
    '   d',
    '',
    'text',
    '',
    '7. e',
  ])
})

test('quotes have a sign before every line', () => {
  expect(shown('> one two three\n> - a\n>\n> > deep\nlazy', 14)).toEqual([
    '> one two',
    '> three',
    '>',
    '> - a',
    '>',
    '> > deep lazy',
  ])
})

test('code is verbatim, with nothing before it that a selection would contain, and wrapped only if necessary', () => {
  const text =
    '```ts\nif (a)  {\n\treturn\n\n```\n\n    in  dented\n\n      more\n\n- a\n  ~~~\n  b\n  ~~~'
  expect(shown(text)).toEqual([
    'ts',
    'if (a)  {',
    '    return',
    '',
    '',
    'in  dented',
    '',
    '  more',
    '',
    '- a',
    '  b',
  ])
  expect(shown(`\`\`\`\none two ${'x'.repeat(30)}\n`, 20)).toEqual([
    'one two',
    'x'.repeat(20),
    'x'.repeat(10),
  ])
})

test('tables are set in columns if they fit, and cells keep their styles', () => {
  const table = '| a | b |\n|---|--:|\n| **c** | `d` |\n'
  expect(shown(table)).toEqual(['a │ b', '──┼──', 'c │ d'])
  expect(lines(table).at(-1)?.[0]).toEqual({ text: 'c', style: { bold: true } })
  expect(shown(table.replace('c', 'long '.repeat(8).trim()), 30)).toEqual([
    'a                          │ b',
    '───────────────────────────┼──',
    'long long long long long   │ d',
    'long long long             │',
  ])
})

test('HTML, references and their definitions are shown verbatim', () => {
  expect(
    shown('<b>a</b> [x][y]\n\n<div>\n  c\n</div>\n\n[y]: http://z "t"\n\n<!-- d\n\n# e -->'),
  ).toEqual([
    '<b>a</b> [x][y]',
    '',
    '<div>',
    '  c',
    '</div>',
    '',
    '[y]: http://z "t"',
    '',
    '<!-- d',
    '',
    '# e -->',
  ])
})

test('two spaces or a backslash break a line; other line ends, CRLF too, are spaces', () => {
  expect(shown('a  \nb\\\nc\r\n   d\r\n\r\ne')).toEqual(['a', 'b', 'c d', '', 'e'])
})

test('a carriage return within a line does not end it', () => {
  expect(shown('safe\rrm\r\r\n- a')).toEqual(['safe\\u{d}rm\\u{d}', '', '- a'])
})

test('character references cannot introduce unsafe characters', () => {
  expect(shown('&#27;[2J &#x202e; &#13; &#65;')).toEqual(['\\u{1b}[2J \\u{202e} \\u{d} A'])
})

test('with few columns, marks and gutters are omitted', () => {
  expect(shown('> quoted\n\n- item\n\n```\ncode\n```', 10)).toEqual([
    'quoted',
    '',
    '-',
    'item',
    '',
    'code',
  ])
})

function lines(text: string, columns = 80): Line[] {
  const stream = new MarkdownStream(columns)
  return [...stream.push(text), ...stream.end()]
}

function shown(text: string, columns = 80): string[] {
  return lines(text, columns).map((line) => paintLine(line, false).trimEnd())
}
