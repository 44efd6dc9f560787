/** One server-sent event. `event` is `message` if the stream names none; the lines of `data` are joined by `\n`. */
export interface ServerSentEvent {
  readonly event: string
  readonly data: string
}

/** One event as text. `data` is JSON, so it has no line breaks; `id` is what a client sends back to continue after it. */
export function serverSentText({
  event,
  data,
  id,
}: {
  readonly event: string
  readonly data: object
  readonly id?: number | undefined
}): string {
  const numbered = id === undefined ? '' : `id: ${id}\n`
  return `${numbered}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

const MiB = 1024 * 1024
/** Several times the longest events of any model, which repeat a whole answer. */
const LONGEST_EVENT = 3 * MiB
const LF = 10
const CR = 13
const NOTHING = new Uint8Array(0)
/** Also in a browser. */
const UTF_8 = new TextDecoder('utf-8', { ignoreBOM: true })
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * Splits a stream of chunks into server-sent events, wherever the chunks end. An event is returned only at its blank line, so
 * an incomplete event at the end of a broken stream is dropped. Scans every byte once and decodes text a whole line at a time.
 */
export class ServerSentEvents {
  readonly #limit: number
  readonly #line = new GrowingBytes()
  #data: string[] = []
  /** Bytes of the lines of the current event. */
  #heldBytes = 0
  #event = ''
  #afterReturn = false
  #first = true
  #overlong = false

  constructor(limit = LONGEST_EVENT) {
    this.#limit = limit
  }

  /** An event exceeded the limit. It is not buffered, and no further events are returned. */
  get overlong(): boolean {
    return this.#overlong
  }

  /** The events that end in this chunk. The caller may reuse its memory afterwards. */
  push(chunk: Uint8Array): readonly ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    let from = this.#skipsLineFeed(chunk) ? 1 : 0
    let feed = chunk.indexOf(LF, from)
    let back = chunk.indexOf(CR, from)
    while (!this.#overlong && (feed !== -1 || back !== -1)) {
      const end = back === -1 || (feed !== -1 && feed < back) ? feed : back
      this.#endLine(chunk.subarray(from, end), events)
      from = end + 1
      if (end === back && chunk[from] === LF) from += 1
      else if (end === back && from === chunk.length) this.#afterReturn = true
      // Searched again only once passed, so a chunk without CR or LF is scanned for it once.
      if (feed !== -1 && feed < from) feed = chunk.indexOf(LF, from)
      if (back !== -1 && back < from) back = chunk.indexOf(CR, from)
    }
    const rest = chunk.subarray(from)
    if (this.#fits(rest.length)) this.#line.add(rest)
    return events
  }

  /** True if a CR at the end of the previous chunk ended the line, and this LF belongs to it. */
  #skipsLineFeed(chunk: Uint8Array): boolean {
    const skips = this.#afterReturn && chunk[0] === LF
    if (chunk.length > 0) this.#afterReturn = false
    return skips
  }

  #fits(more: number): boolean {
    if (!this.#overlong && this.#heldBytes + this.#line.length + more > this.#limit) {
      this.#overlong = true
      this.#data = []
      this.#line.take()
    }
    return !this.#overlong
  }

  #endLine(end: Uint8Array, events: ServerSentEvent[]): void {
    if (!this.#fits(end.length)) return
    const bytes = this.#line.take(end)
    const text = UTF_8.decode(bytes)
    const line = this.#first && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
    this.#first = false
    if (line === '') this.#endEvent(events)
    else this.#takeField(line, bytes.length)
  }

  #endEvent(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) {
      events.push({ event: this.#event || 'message', data: this.#data.join('\n') })
    }
    this.#data = []
    this.#heldBytes = 0
    this.#event = ''
  }

  /** Ignores comments, which have an empty field name, `id`, `retry` and unknown fields. */
  #takeField(line: string, bytes: number): void {
    const colon = line.indexOf(':')
    const name = colon === -1 ? line : line.slice(0, colon)
    if (name !== 'data' && name !== 'event') return
    const spaced = colon === -1 ? '' : line.slice(colon + 1)
    const value = spaced.startsWith(' ') ? spaced.slice(1) : spaced
    if (name === 'event') this.#event = value
    else this.#data.push(value)
    this.#heldBytes += bytes
  }
}

/** A growing buffer. Its capacity doubles when full, so that each byte is copied only a few times. */
class GrowingBytes {
  #room = NOTHING
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#room.length) {
      const room = new Uint8Array(Math.max(length, 2 * this.#room.length, 256))
      room.set(this.#room.subarray(0, this.#length))
      this.#room = room
    }
    this.#room.set(piece, this.#length)
    this.#length = length
  }

  /** All bytes so far plus `end`, valid until more are added; empties the buffer. */
  take(end: Uint8Array = NOTHING): Uint8Array {
    if (this.#length === 0) return end
    this.add(end)
    const all = this.#room.subarray(0, this.#length)
    this.#length = 0
    if (this.#room.length > MiB) this.#room = NOTHING
    return all
  }
}
