import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { HeadTail, type Excerpt } from './head-tail.ts'

/** Pushes `bytes`, cut at the given places, in memory that is reused, as readers do. */
function pushed(
  bytes: Buffer,
  cuts: readonly number[],
  limit: number,
): { live: string; shown: Excerpt } {
  const keeper = new HeadTail(limit)
  const memory = Buffer.alloc(bytes.length)
  let live = ''
  let from = 0
  const places = cuts.map((cut) => cut % (bytes.length + 1))
  for (const to of [...places, bytes.length].toSorted((a, b) => a - b)) {
    const size = bytes.copy(memory, 0, from, to)
    live += keeper.push(memory.subarray(0, size))
    from = to
  }
  return { live, shown: keeper.end() }
}

const anyBytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.concat(parts))

test('the excerpt does not depend on the chunks of the stream', () => {
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(400)), fc.nat(60), (bytes, cuts, limit) => {
      expect(pushed(bytes, cuts, limit).shown).toEqual(pushed(bytes, [], limit).shown)
    }),
  )
})

test('head and tail are the ends of the decoded text, within the limit, and the bytes between them are counted', () => {
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(400)), fc.nat(60), (bytes, cuts, limit) => {
      const text = bytes.toString()
      const whole = Buffer.from(text)
      const { head, tail, left_out_bytes, total_bytes } = pushed(bytes, cuts, limit).shown
      const shown = Buffer.byteLength(head) + Buffer.byteLength(tail)
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
      expect(shown).toBeLessThanOrEqual(limit)
      expect(shown + left_out_bytes).toBe(whole.length)
      expect(total_bytes).toBe(bytes.length)
      // At most the partial characters at the two cuts are lost.
      if (whole.length <= limit) expect([head, left_out_bytes]).toEqual([text, 0])
      else expect(shown).toBeGreaterThan(limit - 7)
    }),
  )
})

test('invalid UTF-8 is reported if and only if it occurs', () => {
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(400)), (bytes, cuts) => {
      const replaced = !Buffer.from(bytes.toString()).equals(bytes)
      expect(pushed(bytes, cuts, 20).shown.invalid_bytes_replaced).toBe(replaced)
    }),
  )
})

test('push returns the text that is complete so far', () => {
  fc.assert(
    fc.property(anyBytes, fc.array(fc.nat(400)), (bytes, cuts) => {
      const { live } = pushed(bytes, cuts, 20)
      expect(bytes.toString().startsWith(live)).toBe(true)
      // Three bytes at most may still be completed; if they never are, each becomes a character of three.
      const missing = Buffer.byteLength(bytes.toString()) - Buffer.byteLength(live)
      expect(missing).toBeLessThanOrEqual(9)
    }),
  )
})

test('a character is shown whole or not at all', () => {
  const { shown } = pushed(Buffer.from('äöü€€äöü'), [1, 3, 8], 11)
  expect(shown).toEqual({
    head: 'äö',
    tail: 'äöü',
    left_out_bytes: 8,
    total_bytes: 18,
    invalid_bytes_replaced: false,
  })
})

test('a megabyte leaves only its ends behind', () => {
  const { shown } = pushed(Buffer.from('a'.repeat(500_000) + 'b'.repeat(500_000)), [7, 70_000], 10)
  expect(shown).toMatchObject({ head: 'aaaaa', tail: 'bbbbb', left_out_bytes: 999_990 })
})
