import { expect, test } from 'vitest'
import { idAtEnds, MessageLines } from './message-lines.ts'

function linesOf(text: string, size: number, limit: number): readonly string[] {
  const lines = new MessageLines(limit)
  const bytes = Buffer.from(text)
  const found: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    for (const read of lines.push(bytes.subarray(at, at + size))) {
      const texts = 'line' in read ? [read.line] : [read.overlong.head, read.overlong.tail]
      found.push(texts.map(String).join(' … '))
    }
  }
  return found
}

test.each([1, 2, 7, 600, 5_000])('lines are the same in pieces of %i bytes', (size) => {
  const long = `head${'x'.repeat(2_000)}tail`
  expect(linesOf(`one\n\ntwo\n${long}\nthree\nrest`, size, 1_000)).toEqual([
    'one',
    '',
    'two',
    `head${'x'.repeat(508)} … ${'x'.repeat(508)}tail`,
    'three',
  ])
})

test('a line of the limit is whole, and one byte more is not', () => {
  expect(linesOf('aaaaa\nbbbbbb\n', 3, 5)).toEqual(['aaaaa', 'bbbbbb … bbbbbb'])
})

test.each([
  ['{"jsonrpc":"2.0","id":5,"method":"x","params":"', '"}', 5],
  ['{"id":"a-b","method":"x"', '"}', 'a-b'],
  ['{"method":"x","params":{"a":"', '"},"jsonrpc":"2.0","id":7}', 7],
  ['{"method":"x","params":{"a":"', '"},"jsonrpc":"2.0","id":"s"}\r', 's'],
  ['{"method":"x","params":{"a":"', '","id":7}}', undefined],
  ['{"method":"x","params":{"id":3,"a":"', '"}}', undefined],
  ['{"method":"x","params":"', '\\",\\"id\\":7}', undefined],
])('the id of %s…%s is %s', (head, tail, id) => {
  expect(idAtEnds(Buffer.from(head), Buffer.from(tail))).toBe(id)
})
