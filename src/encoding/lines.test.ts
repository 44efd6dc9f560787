import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LineFramer, type FramedLine } from './lines.ts'

/** Splits `bytes` at the given positions and frames the chunks, in reused memory like that of a reader. */
function framed(
  bytes: Buffer,
  cuts: readonly number[],
  limit: number,
): { lines: string[]; rest: number } {
  const framer = new LineFramer(limit)
  const lines: string[] = []
  const memory = Buffer.alloc(bytes.length)
  let from = 0
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )) {
    const size = bytes.copy(memory, 0, from, to)
    for (const one of framer.push(memory.subarray(0, size))) lines.push(shown(one))
    from = to
  }
  return { lines, rest: framer.pendingBytes }
}

function shown(one: FramedLine): string {
  return 'overlong' in one
    ? `${one.offset} overlong`
    : `${one.offset} ${one.bytes.toString('latin1')}`
}

test('the lines of a stream do not depend on how it is chunked', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 200 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(400)), (content, cuts) => {
      const bytes = Buffer.from(content)
      let offset = 0
      const pieces = content.split('\n')
      const rest = pieces.pop() ?? ''
      const expected = pieces.map((line) => {
        const one = line.length > 20 ? `${offset} overlong` : `${offset} ${line}`
        offset += line.length + 1
        return one
      })
      const { lines, rest: unfinished } = framed(bytes, cuts, 20)
      const expectedLines = rest.length > 20 ? [...expected, `${offset} overlong`] : expected
      expect({ lines, unfinished }).toEqual({ lines: expectedLines, unfinished: rest.length })
    }),
  )
})

test('a line over the limit is reported once and not kept in memory', () => {
  const framer = new LineFramer(4, 100)
  const lines = ['abc', 'def', 'ghi\nok\n'].flatMap((text) =>
    [...framer.push(Buffer.from(text))].map(shown),
  )
  expect(lines).toEqual(['100 overlong', '110 ok'])
  expect(framer.lineStart).toBe(113)
})
