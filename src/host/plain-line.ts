import { writeSync } from 'node:fs'

/** Writes text to a descriptor synchronously, without a stream. Returns the error code on failure. */
export function writePlain(descriptor: 1 | 2, text: string): string | undefined {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'EIO'
      // The pipe is full; try again.
      if (code !== 'EAGAIN') return code
    }
  }
  return undefined
}
