import { isUtf8 } from 'node:buffer'

/** An excerpt of a stream: all of it, or its head and tail. */
export interface Excerpt {
  /** The whole text if nothing was omitted. */
  readonly head: string
  readonly tail: string
  /** UTF-8 bytes omitted between head and tail. */
  readonly left_out_bytes: number
  /** Bytes of the stream itself. */
  readonly total_bytes: number
  /** The stream contained invalid UTF-8, which was replaced by U+FFFD. */
  readonly invalid_bytes_replaced: boolean
}

/**
 * Keeps the head and the tail of a byte stream as text, together at most `limit` bytes of UTF-8 and never half a character. The
 * result does not depend on the chunks; memory is at most twice `limit`.
 */
export class HeadTail {
  readonly #headLimit: number
  readonly #limit: number
  readonly #start: Buffer
  readonly #ring: Buffer
  #text = 0
  #total = 0
  #carry: Buffer = Buffer.alloc(0)
  #invalid = false

  constructor(limit: number) {
    this.#limit = limit
    this.#headLimit = Math.floor(limit / 2)
    this.#start = Buffer.alloc(limit)
    this.#ring = Buffer.alloc(limit - this.#headLimit)
  }

  /** Adds a chunk and returns the text that is now complete. */
  push(chunk: Uint8Array): string {
    this.#total += chunk.length
    const bytes =
      this.#carry.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#carry, chunk])
    const end = bytes.length - unfinishedBytes(bytes)
    this.#carry = bytes.subarray(end)
    return this.#take(bytes.subarray(0, end))
  }

  /** Must be called once, after the last chunk. */
  end(): Excerpt {
    this.#take(this.#carry)
    const facts = { total_bytes: this.#total, invalid_bytes_replaced: this.#invalid }
    if (this.#text <= this.#limit) {
      return {
        head: this.#start.toString('utf8', 0, this.#text),
        tail: '',
        left_out_bytes: 0,
        ...facts,
      }
    }
    const head = this.#start.subarray(0, beforeCharacter(this.#start, this.#headLimit))
    const end = this.#lastBytes()
    const tail = end.subarray(afterContinuation(end))
    const left_out_bytes = this.#text - head.length - tail.length
    return { head: head.toString(), tail: tail.toString(), left_out_bytes, ...facts }
  }

  #take(bytes: Buffer): string {
    const valid = isUtf8(bytes)
    if (!valid) this.#invalid = true
    const text = bytes.toString()
    const kept = valid ? bytes : Buffer.from(text)
    if (this.#text < this.#limit) kept.copy(this.#start, this.#text)
    this.#turn(kept)
    this.#text += kept.length
    return text
  }

  /** Writes into the ring buffer: position `n` of the text is at `n` modulo its size. */
  #turn(bytes: Buffer): void {
    const size = this.#ring.length
    if (size === 0) return
    const from = Math.max(0, bytes.length - size)
    const at = (this.#text + from) % size
    const room = Math.min(size - at, bytes.length - from)
    bytes.copy(this.#ring, at, from, from + room)
    bytes.copy(this.#ring, 0, from + room)
  }

  #lastBytes(): Buffer {
    const size = this.#ring.length
    const at = size === 0 ? 0 : this.#text % size
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)])
  }
}

/**
 * The number of bytes at the end that belong to an incomplete character. It is always safe to cut before the first byte of a
 * character, valid or not.
 */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    return back < lengthOf(byte) ? back : 0
  }
  return 0
}

/** The length of the character that starts with this byte; 1 if none does. */
function lengthOf(first: number): number {
  if (first >= 0xf0 && first <= 0xf4) return 4
  if (first >= 0xe0 && first < 0xf0) return 3
  return first >= 0xc2 && first < 0xe0 ? 2 : 1
}

function beforeCharacter(bytes: Buffer, at: number): number {
  let end = at
  while (end > 0 && isContinuation(bytes[end] ?? 0)) end -= 1
  return end
}

function afterContinuation(bytes: Buffer): number {
  let start = 0
  while (start < bytes.length && isContinuation(bytes[start] ?? 0)) start += 1
  return start
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
