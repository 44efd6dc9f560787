import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../../model/limits.ts'
import { LineReader, type ReadLine } from './line-reader.ts'

function read(bytes: Buffer, cuts: readonly number[] = []): ReadLine[] {
  const reader = new LineReader()
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  return places.flatMap((from, at) => [
    ...reader.push(bytes.subarray(from, places[at + 1] ?? from)),
  ])
}

test('lines are the same wherever the chunks end', () => {
  const line = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { noNullPrototype: true })
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
      const values = lines.map((one) => ({ value: JSON.parse(JSON.stringify(one)) as unknown }))
      expect(read(bytes, cuts)).toEqual(values)
    }),
  )
})

test('any bytes give lines or faults, and never more than one for each line', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat()), (noise, cuts) => {
      const bytes = Buffer.from([...noise, 10])
      const found = read(bytes, cuts)
      expect(found).toEqual(read(bytes))
      expect(found.length).toBe(bytes.filter((byte) => byte === 10).length)
    }),
  )
})

test.each([
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not_utf8'],
  ['a truncated object', Buffer.from('{"a":'), 'not_json'],
  ['an empty line', Buffer.from(''), 'not_json'],
  ['a list', Buffer.from('[1]'), 'not_an_object'],
  ['a number', Buffer.from('7'), 'not_an_object'],
  ['deep nesting', Buffer.from(`{"a":${'['.repeat(99_000)}${']'.repeat(99_000)}}`), 'too_deep'],
])('%s is refused', (_, bytes, fault) => {
  expect(read(Buffer.concat([bytes, Buffer.from('\n')]))).toEqual([{ fault }])
})

test('a line of 256 KiB is read, and one byte more is refused before its end arrives', () => {
  const most = LIMITS.frame_bytes
  const line = (length: number) => Buffer.from(`{"a":"${'x'.repeat(length - 8)}"}`)
  expect(read(Buffer.concat([line(most), Buffer.from('\n')]))).toHaveLength(1)
  expect(read(line(most + 1))).toEqual([{ fault: 'too_long' }])
})

test('a line of 64 MB is refused once, and is not held in memory', () => {
  const reader = new LineReader()
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const found = Array.from({ length: 1_000 }, () => [...reader.push(chunk)]).flat()
  expect(found).toEqual([{ fault: 'too_long' }])
})
