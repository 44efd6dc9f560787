import { expect, test } from 'vitest'
import { bodyIn, bufferFor } from './body-buffer.ts'

const LARGE = 8 * 1024 * 1024

test('a large body reuses the memory of a spent one if it fits', () => {
  const body = bodyIn(bufferFor(LARGE, undefined), LARGE - 1)
  const spent = { body, count: 1 }
  expect(body.length).toBe(LARGE - 1)
  expect(bufferFor(LARGE + 1000, spent).buffer).toBe(body.buffer)
  expect(bufferFor(2 * LARGE, spent).buffer).not.toBe(body.buffer)
})

test('a small body gets new memory of exactly its size', () => {
  const body = bodyIn(bufferFor(100, undefined), 100)
  expect(body.buffer.byteLength).toBe(100)
  expect(bufferFor(101, { body, count: 1 }).buffer).not.toBe(body.buffer)
})
