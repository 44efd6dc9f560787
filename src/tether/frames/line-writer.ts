import type { Writable } from 'node:stream'
import { wellFormedJson } from '../../encoding/json.ts'
import { LIMITS } from '../../model/limits.ts'

/** Writes lines of JSON to a stream. After the other side has gone, lines are dropped: the reader of the stream notices. */
export class LineWriter {
  readonly #stream: Writable

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {})
  }

  /** Bytes that the other side has not taken yet, without those that the system holds. */
  get waiting(): number {
    return this.#stream.writableLength
  }

  /** Throws if the line is too long: the caller shortens its lines. */
  write(line: object): void {
    const text = wellFormedJson(line)
    if (Buffer.byteLength(text) > LIMITS.frame_bytes) throw new Error('a line exceeds its limit')
    if (this.#stream.writable) this.#stream.write(`${text}\n`)
  }

  /** Resolves when few bytes wait, or the other side has gone. */
  async room(): Promise<void> {
    const stream = this.#stream
    if (!stream.writableNeedDrain || stream.destroyed) return
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done)
        resolve()
      }
      stream.on('drain', done).on('close', done)
    })
  }

  /** Ends the stream after everything that was written; resolves when it is out, or the other side has gone. */
  async end(): Promise<void> {
    const stream = this.#stream
    if (stream.destroyed) return
    await new Promise<void>((resolve) => {
      stream.once('close', resolve)
      stream.end(resolve)
    })
  }
}
