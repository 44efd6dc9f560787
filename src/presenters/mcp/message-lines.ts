/** One line without its line break, or the ends of a line that exceeds the limit. */
export type MessageLine =
  | { readonly line: Buffer }
  | { readonly overlong: { readonly head: Buffer; readonly tail: Buffer } }

const NEWLINE = 10
const END_BYTES = 512

/**
 * Splits a stream into lines, wherever its pieces end. Of a line over the limit, only both ends are kept: one of them
 * usually has the id of the request, so that it can be answered.
 */
export class MessageLines {
  readonly #limit: number
  #pieces: Buffer[] = []
  #length = 0
  #head: Buffer | undefined
  #tail = Buffer.alloc(0)

  constructor(limit: number) {
    this.#limit = limit
  }

  *push(chunk: Buffer): Generator<MessageLine> {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at))
      from = at + 1
      yield this.#ended()
    }
    this.#keep(chunk.subarray(from))
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length
    if (this.#length <= this.#limit) {
      this.#pieces.push(piece)
      return
    }
    if (this.#head === undefined) {
      const kept = Buffer.concat(this.#pieces)
      this.#pieces = []
      this.#head = Buffer.from(
        Buffer.concat([kept.subarray(0, END_BYTES), piece]).subarray(0, END_BYTES),
      )
      this.#tail = Buffer.from(kept.subarray(-END_BYTES))
    }
    this.#tail = Buffer.concat([this.#tail, piece.subarray(-END_BYTES)]).subarray(-END_BYTES)
  }

  #ended(): MessageLine {
    const ended: MessageLine =
      this.#head === undefined
        ? { line: Buffer.concat(this.#pieces) }
        : { overlong: { head: this.#head, tail: this.#tail } }
    this.#pieces = []
    this.#length = 0
    this.#head = undefined
    this.#tail = Buffer.alloc(0)
    return ended
  }
}

/** The id of the request that a line starts or ends with, as clients write it. */
export function idAtEnds(head: Buffer, tail: Buffer): string | number | undefined {
  const first =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,200}")\s*,/
  const last = /,\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\]{0,200}")\s*\}\s*$/
  const [, text] = first.exec(head.toString('utf8')) ?? last.exec(tail.toString('utf8')) ?? []
  if (text === undefined) return undefined
  return text.startsWith('"') ? text.slice(1, -1) : Number(text)
}
