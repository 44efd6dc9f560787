const NEWLINE = 10

/** One `\n`-ended line without its newline, or where one began that is longer than the limit. */
export type Framed =
  | { readonly bytes: Buffer; readonly offset: number }
  | { readonly overlong: true; readonly offset: number }

/**
 * Cuts a stream of chunks into lines, wherever the chunks were cut. A line over `limit` is told once, as soon as that
 * is known, and passed over without being held, so memory stays flat whatever comes.
 */
export class LineFramer {
  readonly #limit: number
  #carry: Buffer[] = []
  #carried = 0
  #skipping = false
  #lineStart: number

  constructor(limit: number, offset = 0) {
    this.#limit = limit
    this.#lineStart = offset
  }

  /** Bytes of a line that has begun and not ended. */
  get unfinished(): number {
    return this.#carried
  }

  /** Where the line that has begun, or would begin next, starts. */
  get lineStart(): number {
    return this.#lineStart
  }

  /** Lines are views of `chunk` where they lie inside it: use or copy them before the chunk's memory is reused. */
  *push(chunk: Buffer): Generator<Framed> {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const framed = this.#end(chunk.subarray(from, at))
      from = at + 1
      if (framed !== undefined) yield framed
    }
    const overlong = this.#keep(chunk.subarray(from))
    if (overlong !== undefined) yield overlong
  }

  #end(piece: Buffer): Framed | undefined {
    const offset = this.#lineStart
    const length = this.#carried + piece.length
    const skipped = this.#skipping
    const bytes = this.#carry.length === 0 ? piece : Buffer.concat([...this.#carry, piece])
    this.#carry = []
    this.#carried = 0
    this.#skipping = false
    this.#lineStart = offset + length + 1
    if (skipped) return undefined
    return length > this.#limit ? { overlong: true, offset } : { bytes, offset }
  }

  #keep(piece: Buffer): Framed | undefined {
    if (piece.length === 0) return undefined
    this.#carried += piece.length
    if (this.#skipping) return undefined
    if (this.#carried > this.#limit) {
      this.#skipping = true
      this.#carry = []
      return { overlong: true, offset: this.#lineStart }
    }
    // Copied: the caller may reuse the chunk's memory for the next read.
    this.#carry.push(Buffer.from(piece))
    return undefined
  }
}
