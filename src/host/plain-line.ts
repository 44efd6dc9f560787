import { writeSync } from 'node:fs'

/** Writes text to a descriptor at once, without a stream; the code of the error where that fails. */
export function writePlain(descriptor: 1 | 2, text: string): string | undefined {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'EIO'
      // A pipe that is full for now.
      if (code !== 'EAGAIN') return code
    }
  }
  return undefined
}
