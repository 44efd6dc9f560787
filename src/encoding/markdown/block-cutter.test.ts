import { expect, test } from 'vitest'
import { BlockCutter, LONGEST_BLOCK, type Piece } from './block-cutter.ts'

test('a paragraph is closed by the line that follows its blank line', () => {
  expect(steps('one\ntwo\n\nthree')).toEqual([
    [],
    [],
    [],
    [{ kind: 'blocks', source: 'one\ntwo' }],
    [{ kind: 'blocks', source: 'three' }],
  ])
})

test('headings and rules close at once, and underlines close their text', () => {
  expect(steps('# a\n***\nb\n---\nc\n===')).toEqual([
    [{ kind: 'blocks', source: '# a' }],
    [{ kind: 'blocks', source: '***' }],
    [],
    [{ kind: 'blocks', source: 'b\n---' }],
    [],
    [{ kind: 'blocks', source: 'c\n===' }],
    [],
  ])
})

test('every list item is a separate piece, with everything that is indented under it', () => {
  const item = (source: string, isSpaced = false) => ({ kind: 'item', source, isSpaced })
  expect(pieces('text\n- a\n  - b\n\n  more\n- c\nlazy\n\n10. d\n\n    e\n\n   f')).toEqual([
    { kind: 'blocks', source: 'text' },
    item('- a\n  - b\n\n  more'),
    item('- c\nlazy'),
    item('10. d\n\n    e', true),
    { kind: 'blocks', source: '   f' },
  ])
})

test('an indent that does not reach the text of an item leaves it', () => {
  expect(pieces(' - a\n  - b\n10. c\n   - d\n1. e\n  ```')).toEqual([
    { kind: 'item', source: ' - a', isSpaced: false },
    { kind: 'item', source: '  - b', isSpaced: false },
    { kind: 'item', source: '10. c', isSpaced: false },
    { kind: 'item', source: '   - d', isSpaced: false },
    { kind: 'item', source: '1. e', isSpaced: false },
    { kind: 'fence', language: '' },
  ])
})

test('text that only looks like an item stays in its paragraph', () => {
  for (const source of ['in\n1986. a year', 'a\n-', 'a\n-b', 'a\n    - b']) {
    expect(pieces(source)).toEqual([{ kind: 'blocks', source }])
  }
})

test('lines of fenced code are returned one by one, until a matching fence closes them', () => {
  expect(steps('a\n```ts x\n\n~~~\n``\n````\nb')).toEqual([
    [],
    [
      { kind: 'blocks', source: 'a' },
      { kind: 'fence', language: 'ts' },
    ],
    ...['', '~~~', '``'].map((text) => [{ kind: 'code', text }]),
    [],
    [],
    [{ kind: 'blocks', source: 'b' }],
  ])
  expect(pieces('  ~~~\n   a\n b\nc')).toEqual([
    { kind: 'fence', language: '' },
    ...[' a', 'b', 'c'].map((text) => ({ kind: 'code', text })),
  ])
})

test('a fence within an item belongs to the item', () => {
  const source = '1. a\n   ```\n   b\n\n   ```'
  expect(pieces(`${source}\n\`\`\``)).toEqual([
    { kind: 'item', source, isSpaced: false },
    { kind: 'fence', language: '' },
  ])
})

test('HTML with blank lines is shown verbatim until it ends', () => {
  expect(pieces('<!-- a\n\n# b -->\n# c')).toEqual([
    { kind: 'literal', text: '<!-- a', begins: true },
    { kind: 'literal', text: '', begins: false },
    { kind: 'literal', text: '# b -->', begins: false },
    { kind: 'blocks', source: '# c' },
  ])
})

test('a block too long for the lexer is returned verbatim as soon as it is too long', () => {
  const long = 'x'.repeat(LONGEST_BLOCK / 2)
  expect(steps(`${long}\n${long}\nmore\n\nnext`)).toEqual([
    [],
    [{ kind: 'literal', text: `${long}\n${long}`, begins: true }],
    [{ kind: 'literal', text: 'more', begins: false }],
    [],
    [],
    [{ kind: 'blocks', source: 'next' }],
  ])
})

test('a table with more cells than text is not for the lexer', () => {
  const rows = '|\n'.repeat(200)
  const source = `${'|a'.repeat(200)}\n${'|-'.repeat(200)}\n${rows}|`
  expect(pieces(source)).toEqual([{ kind: 'literal', text: source, begins: true }])
})

test('a copy is independent', () => {
  const cutter = new BlockCutter()
  cutter.take('a')
  const copy = cutter.copy()
  copy.take('b')
  expect([copy.close(), cutter.close()]).toEqual([
    [{ kind: 'blocks', source: 'a\nb' }],
    [{ kind: 'blocks', source: 'a' }],
  ])
})

/** The pieces that each line returns, and then those of the end. */
function steps(text: string): Piece[][] {
  const cutter = new BlockCutter()
  return [...text.split('\n').map((line) => cutter.take(line)), cutter.close()]
}

function pieces(text: string): Piece[] {
  return steps(text).flat()
}
