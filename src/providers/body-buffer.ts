import { LARGE_BODY } from '../model/segment.ts'
import type { SpentBody } from './provider.ts'

/**
 * A buffer for a body of at most `most` bytes: that of a spent body if it is large enough. A new large buffer has a margin, so
 * that the next body fits too; pages that are never written cost no memory.
 */
export function bufferFor(most: number, spent: SpentBody | undefined): Buffer {
  const own = spent && BUFFERS.get(spent.body)
  if (own !== undefined && own.length >= most) return own
  return Buffer.allocUnsafeSlow(most >= LARGE_BODY ? Math.ceil(most * 1.25) : most)
}

/** The body at the start of a buffer. The buffer belongs to that body from now on. */
export function bodyIn(buffer: Buffer, length: number): Buffer {
  const body = buffer.subarray(0, length)
  BUFFERS.set(body, buffer)
  return body
}

const BUFFERS = new WeakMap<Buffer, Buffer>()
