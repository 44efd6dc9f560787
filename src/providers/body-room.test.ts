import { expect, test } from 'vitest'
import { bodyIn, roomFor } from './body-room.ts'

const LARGE = 8 * 1024 * 1024

test('a large body is written where a spent one stood, for as long as it fits', () => {
  const body = bodyIn(roomFor(LARGE, undefined), LARGE - 1)
  const spent = { body, count: 1 }
  expect(body.length).toBe(LARGE - 1)
  expect(roomFor(LARGE + 1000, spent).buffer).toBe(body.buffer)
  expect(roomFor(2 * LARGE, spent).buffer).not.toBe(body.buffer)
})

test('a small body has no more memory than it needs, and a new one each time', () => {
  const body = bodyIn(roomFor(100, undefined), 100)
  expect(body.buffer.byteLength).toBe(100)
  expect(roomFor(101, { body, count: 1 }).buffer).not.toBe(body.buffer)
})
