import { LARGE_BODY } from '../model/segment.ts'
import type { SpentBody } from './provider.ts'

/**
 * Memory for a body of at most so many bytes: that of a spent one, where it is large enough. What is new has something to spare
 * if it is large, so that the next body fits into it too; what is not written to costs nothing.
 */
export function roomFor(most: number, spent: SpentBody | undefined): Buffer {
  const own = spent && ROOMS.get(spent.body)
  if (own !== undefined && own.length >= most) return own
  return Buffer.allocUnsafeSlow(most >= LARGE_BODY ? Math.ceil(most * 1.25) : most)
}

/** The body that stands at the start of a room, which is its own from now on. */
export function bodyIn(room: Buffer, length: number): Buffer {
  const body = room.subarray(0, length)
  ROOMS.set(body, room)
  return body
}

const ROOMS = new WeakMap<Buffer, Buffer>()
