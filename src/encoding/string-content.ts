import { isUtf8 } from 'node:buffer'

/** The content of a JSON string is not valid. */
export const INVALID = -1

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const FIRST_PRINTABLE = 0x20
const NEAR_BYTES = 256
const FEW_BYTES = 32

/** What is known about one chunk, so that each byte of it is searched for once. */
export class ChunkMarks {
  readonly chunk: Buffer
  #searchedFrom = 0
  #slash = -1
  #hasControls: boolean | undefined

  constructor(chunk: Buffer) {
    this.chunk = chunk
  }

  /** The position of the next backslash; the length of the chunk if there is none. */
  slashFrom(at: number): number {
    // A string that does not end in the chunk is read again from its beginning.
    if (this.#searchedFrom <= at && at <= this.#slash) return this.#slash
    this.#searchedFrom = at
    const found = this.chunk.indexOf(BACKSLASH, at)
    this.#slash = found === -1 ? this.chunk.length : found
    return this.#slash
  }

  /** Whether there is a control character in a part. In most chunks there is none at all. */
  hasControl(from: number, to: number): boolean {
    this.#hasControls ??= anyControl(this.chunk)
    return this.#hasControls && anyControl(this.chunk.subarray(from, to))
  }
}

/**
 * The position of the quote that ends a string, from a position in it that is not inside of an escape sequence. The length of the
 * chunk if the string does not end in it, plus what `continueEscape` needs if the chunk ends inside of an escape sequence.
 * `INVALID` for a control character or an escape sequence that JSON does not have.
 */
export function endOfString(marks: ChunkMarks, from: number): number {
  const { chunk } = marks
  const { length } = chunk
  let at = from
  let quote = -1
  for (;;) {
    // Most strings are short, and most long ones are lines with escapes between them: a search costs more than reading those.
    const near = Math.min(at + NEAR_BYTES, length)
    while (at < near && PLAIN[chunk[at] ?? 0] === 1) at += 1
    if (at < near) {
      const byte = chunk[at]
      if (byte === QUOTE) return at
      if (byte !== BACKSLASH) return INVALID
      if (ESCAPED[chunk[at + 1] ?? 0] === 1) at += 2
      else {
        at = afterEscape(chunk, at)
        if (at === INVALID || at > length) return at
      }
      continue
    }
    if (at >= length) return length
    if (quote < at) quote = indexOr(chunk.indexOf(QUOTE, at), length)
    const slash = marks.slashFrom(at)
    if (marks.hasControl(at, Math.min(quote, slash))) return INVALID
    if (slash >= quote) return quote
    at = afterEscape(chunk, slash)
    if (at === INVALID || at > length) return at
  }
}

/** An escape sequence that continues in the next chunk. */
export interface OpenEscape {
  /** 0 if none is open, 1 if its letter is to come, or one more than its digits that are to come. */
  readonly pending: number
  readonly at: number
}

/** Continues in an escape sequence, as far as the chunk goes. `at` is `INVALID` if JSON does not have it. */
export function continueEscape(chunk: Buffer, { pending, at }: OpenEscape): OpenEscape {
  let [left, next] = [pending, at]
  for (; left > 0 && next < chunk.length; next += 1) {
    const byte = chunk[next] ?? 0
    if (left > 1) {
      if (!isHex(byte)) return { pending: 0, at: INVALID }
      left = left === 2 ? 0 : left - 1
    } else if (byte === LETTER_U) left = 5
    else if (ESCAPED[byte] === 1) left = 0
    else return { pending: 0, at: INVALID }
  }
  return { pending: left, at: next }
}

function afterEscape(chunk: Buffer, at: number): number {
  const { length } = chunk
  const letter = chunk[at + 1]
  if (letter === undefined) return length + 1
  if (letter !== LETTER_U) return ESCAPED[letter] === 1 ? at + 2 : INVALID
  for (let digit = 2; digit < 6; digit += 1) {
    const byte = chunk[at + digit]
    if (byte === undefined) return length + 1 + (6 - digit)
    if (!isHex(byte)) return INVALID
  }
  return at + 6
}

/** What a string contains as it is. */
const PLAIN = new Uint8Array(256).fill(1, FIRST_PRINTABLE)
PLAIN[QUOTE] = 0
PLAIN[BACKSLASH] = 0

/** What may follow a backslash, besides `u`. */
const ESCAPED = new Uint8Array(256)
for (const letter of Buffer.from('"\\/bfnrt')) ESCAPED[letter] = 1

function isHex(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

function indexOr(index: number, otherwise: number): number {
  return index === -1 ? otherwise : index
}

/** Four bytes at a time: a byte below 0x20 is the only one whose high bit is set by this. */
function anyControl(bytes: Buffer): boolean {
  const { buffer, byteOffset, length } = bytes
  if (length < FEW_BYTES) return anyControlIn(bytes, 0, length)
  const first = (4 - (byteOffset % 4)) % 4
  const words = new Int32Array(buffer, byteOffset + first, (length - first) >> 2)
  const { length: count } = words
  for (let index = 0; index < count; index += 1) {
    const word = words[index] ?? 0
    if (((word - 0x20202020) & ~word & -0x7f7f7f80) !== 0) return true
  }
  const rest = first + words.length * 4
  return anyControlIn(bytes, 0, first) || anyControlIn(bytes, rest, length)
}

function anyControlIn(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if ((bytes[at] ?? 0) < FIRST_PRINTABLE) return true
  return false
}

/** Checks that text that arrives in chunks is UTF-8: no overlong form, no surrogate. */
export class Utf8Check {
  /** The beginning of a character that the last chunk ends with. */
  #tail = NO_BYTES

  /** False if the text cannot be UTF-8, whatever follows. */
  push(chunk: Buffer): boolean {
    const missing = this.#tail.length === 0 ? 0 : sequenceLength(this.#tail[0]) - this.#tail.length
    const head = Buffer.concat([this.#tail, chunk.subarray(0, missing)])
    if (chunk.length < missing) {
      this.#tail = head
      return chunk.every((byte) => isContinuation(byte))
    }
    const to = endOfCharacters(chunk, missing)
    this.#tail = Buffer.from(chunk.subarray(to))
    return isUtf8(head) && isUtf8(chunk.subarray(missing, to))
  }
}

const NO_BYTES = Buffer.alloc(0)

/** The end of the last character that is whole; also if the bytes are none, so that the check of the whole finds that. */
function endOfCharacters(chunk: Buffer, from: number): number {
  const { length } = chunk
  for (let back = 1; back <= 3 && length - back >= from; back += 1) {
    const byte = chunk[length - back] ?? 0
    if (!isContinuation(byte)) return sequenceLength(byte) > back ? length - back : length
  }
  return length
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** How many bytes a character has, by its first one. */
function sequenceLength(first = 0): number {
  if (first > 0xf4) return 1
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}
