import { expect, test } from 'vitest'
import { parsedMarkdown } from './parse.ts'
import { shownAddress, type MarkdownBlock, type MarkdownSpan } from './tree.ts'
import { markdownBlocks } from './whole-text.ts'

const text = (value: string): MarkdownSpan => ({ kind: 'text', text: value })
const item = (value: string, done?: boolean) => ({
  done,
  loose: false,
  blocks: [{ kind: 'text', content: [text(value)] }],
})

test.each<readonly [string, readonly MarkdownBlock[]]>([
  ['## A *b*', [{ kind: 'heading', depth: 2, content: [text('A '), em('b')] }]],
  ['a\\*  \n`b`', [{ kind: 'paragraph', content: [text('a'), text('*'), ...breaks('b')] }]],
  ['```js x\na\n```', [{ kind: 'code', info: 'js x', text: 'a' }]],
  ['> a\n\n---', [{ kind: 'quote', blocks: [paragraph('a')] }, { kind: 'rule' }]],
  ['<div>\n', [{ kind: 'verbatim', text: '<div>' }]],
  ['[a]: http://b.c\n', [{ kind: 'verbatim', text: '[a]: http://b.c' }]],
  ['a <b>', [{ kind: 'paragraph', content: [text('a '), text('<b>')] }]],
])('the tree of %j', (source, expected) => {
  expect(parsedMarkdown(source)).toEqual(expected)
})

test('a list has the number of its first item, and its tasks are done or not', () => {
  const list = { kind: 'list', loose: false }
  expect(parsedMarkdown('7. a\n8. b')).toEqual([
    { ...list, start: 7, items: [item('a'), item('b')] },
  ])
  expect(parsedMarkdown('- [x] a\n- [ ] b\n- c')).toEqual([
    { ...list, start: undefined, items: [item('a', true), item('b', false), item('c')] },
  ])
})

test('a table has its cells, its columns and its source', () => {
  const source = '| a | b |\n|:--|--:|\n| 1 | 2 |'
  expect(parsedMarkdown(`${source}\n`)).toEqual([
    {
      kind: 'table',
      header: [[text('a')], [text('b')]],
      rows: [[[text('1')], [text('2')]]],
      align: ['left', 'right'],
      source,
    },
  ])
})

test.each([
  ['[a](http://b.c)', 'http://b.c'],
  ['<http://b.c>', undefined],
  ['<a@b.c>', undefined],
  ['![http://b.c](http://b.c)', 'http://b.c'],
  ['[a]()', undefined],
])('the address shown beside %j is %j', (source, expected) => {
  const [block] = parsedMarkdown(source) ?? []
  const [span] = block?.kind === 'paragraph' ? block.content : []
  expect(span !== undefined && 'href' in span ? shownAddress(span) : 'no address').toBe(expected)
})

test('the items of a list are one list, and fenced code and HTML are their own blocks', () => {
  const blocks = markdownBlocks('- a\r\n- b\n```js\nc\n\nd\n```\n<!--\ne\n-->', (line) =>
    line.replaceAll('b', 'B'),
  )
  expect(blocks).toEqual([
    { kind: 'list', loose: false, start: undefined, items: [item('a'), item('B')] },
    { kind: 'code', info: 'js', text: 'c\n\nd' },
    { kind: 'verbatim', text: '<!--\ne\n-->' },
  ])
})

function em(value: string): MarkdownSpan {
  return { kind: 'em', content: [text(value)] }
}

function breaks(code: string): MarkdownSpan[] {
  return [{ kind: 'break' }, { kind: 'code', text: code }]
}

function paragraph(value: string): MarkdownBlock {
  return { kind: 'paragraph', content: [text(value)] }
}
