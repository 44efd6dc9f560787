const NEWLINE = 10

/** One line without its `\n`, or the start of a line that exceeds the limit. */
export type FramedLine =
  | { readonly bytes: Buffer; readonly offset: number }
  | { readonly overlong: true; readonly offset: number }

/**
 * Splits a stream of chunks into lines, wherever the chunks end. A line over `limit` is reported once, as soon as it is
 * detected, and skipped without buffering, so memory stays bounded.
 */
export class LineFramer {
  readonly #limit: number
  #carry: Buffer[] = []
  #carryBytes = 0
  #skipping = false
  #lineStart: number

  constructor(limit: number, offset = 0) {
    this.#limit = limit
    this.#lineStart = offset
  }

  /** Bytes of the unfinished line. */
  get pendingBytes(): number {
    return this.#carryBytes
  }

  /** The start offset of the unfinished or next line. */
  get lineStart(): number {
    return this.#lineStart
  }

  /** Lines may be views of `chunk`: use or copy them before its memory is reused. */
  *push(chunk: Buffer): Generator<FramedLine> {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const framed = this.#end(chunk.subarray(from, at))
      from = at + 1
      if (framed !== undefined) yield framed
    }
    const overlong = this.#keep(chunk.subarray(from))
    if (overlong !== undefined) yield overlong
  }

  #end(piece: Buffer): FramedLine | undefined {
    const offset = this.#lineStart
    const length = this.#carryBytes + piece.length
    const skipped = this.#skipping
    const bytes = this.#carry.length === 0 ? piece : Buffer.concat([...this.#carry, piece])
    this.#carry = []
    this.#carryBytes = 0
    this.#skipping = false
    this.#lineStart = offset + length + 1
    if (skipped) return undefined
    return length > this.#limit ? { overlong: true, offset } : { bytes, offset }
  }

  #keep(piece: Buffer): FramedLine | undefined {
    if (piece.length === 0) return undefined
    this.#carryBytes += piece.length
    if (this.#skipping) return undefined
    if (this.#carryBytes > this.#limit) {
      this.#skipping = true
      this.#carry = []
      return { overlong: true, offset: this.#lineStart }
    }
    // Copied: the caller may reuse the chunk's memory for the next read.
    this.#carry.push(Buffer.from(piece))
    return undefined
  }
}
