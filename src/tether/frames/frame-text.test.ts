import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LIMITS } from '../../model/limits.ts'
import { frameText, frameTexts } from './frame-text.ts'

const ROOM = LIMITS.frame_bytes - 8 * 1024

function isFitting(text: string): boolean {
  return (
    Buffer.byteLength(text) <= LIMITS.frame_text_bytes &&
    Buffer.byteLength(JSON.stringify(text)) - 2 <= ROOM
  )
}

test('short text is kept', () => {
  expect(frameText('Hello')).toEqual({ text: 'Hello', truncated: false })
  expect(frameText('')).toEqual({ text: '', truncated: false })
  expect([...frameTexts('')]).toEqual([])
})

test.each([
  ['letters', 'a'],
  ['characters of three bytes', '€'],
  ['characters of four bytes', '🚢'],
  ['control characters, which JSON escapes', '\u0001'],
  ['lone surrogates', '\ud800'],
])('long text of %s is cut between characters and fits', (_, unit) => {
  const whole = unit.repeat(220_000)
  const { text, truncated } = frameText(whole)
  expect([truncated, isFitting(text)]).toEqual([true, true])
  expect(whole.toWellFormed().startsWith(text)).toBe(true)
  expect(text.length).toBeGreaterThan(20_000)
  expect([...frameTexts(whole)].every(isFitting)).toBe(true)
  expect([...frameTexts(whole)].join('')).toBe(whole.toWellFormed())
})

test('text of exactly 200 KiB is whole', () => {
  const whole = 'a'.repeat(LIMITS.frame_text_bytes)
  expect(frameText(whole)).toEqual({ text: whole, truncated: false })
  expect(frameText(`${whole}a`)).toEqual({ text: whole, truncated: true })
})

test('the pieces of any text are the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(400_000), (part, length) => {
      const whole = part.repeat(Math.ceil(length / (part.length + 1)))
      const pieces = [...frameTexts(whole)]
      expect(pieces.join('') === whole.toWellFormed()).toBe(true)
      expect(pieces.every(isFitting)).toBe(true)
    }),
    { numRuns: 3 },
  )
})
