import { ChunkMarks, continueEscape, endOfString, INVALID, Utf8Check } from './string-content.ts'

/** A member of a JSON object. Positions are in bytes of the text; `to` is exclusive. */
export interface Member {
  /** As written, without its quotes: escape sequences are not decoded. Only its beginning if it is very long. */
  readonly key: string
  readonly from: number
  readonly to: number
  /** The value as written; only its beginning if it is long. */
  readonly beginning: Buffer
}

/**
 * Finds the members of the object that a JSON text consists of, as the text arrives, in order, repeated keys included. Reads each
 * byte a few times and long strings much faster, keeps no value, and accepts what a parser of JSON accepts and nothing else.
 */
export class ObjectScan {
  /** The keys so far, also of a member whose value has not ended. */
  readonly keys: string[] = []
  /** The members that have ended. */
  readonly members: Member[] = []
  /** The closing brackets of everything open, the innermost last. */
  readonly #open = new Uint8Array(MOST_DEPTH + 1)
  #depth = 0
  #next: Next = BEGINNING
  /** The escape sequence at the end of the last chunk; see `OpenEscape`. */
  #pending = 0
  readonly #utf8 = new Utf8Check()
  #scalar = ''
  /** Bytes before the current chunk. */
  #before = 0
  readonly #key = new Beginning()
  readonly #value = new Beginning()

  /** Reads the next bytes of the text. False if it is not one object, nests too deep or has too many members. */
  push(chunk: Buffer): boolean {
    const { length } = chunk
    const marks = new ChunkMarks(chunk)
    let at = 0
    if (!this.#utf8.push(chunk)) this.#next = NOTHING
    while (at < length && this.#next !== NOTHING) {
      if (this.#next === TEXT || this.#next === KEY_TEXT) at = this.#readText(marks, at)
      else if (this.#next === SCALAR) at = this.#readScalar(chunk, at)
      else {
        const nested = this.#depth > 1 ? this.#readNested(marks, at) : at
        at = nested > at ? nested : this.#readMark(chunk, at)
      }
    }
    this.#key.keep(chunk, this.#before)
    this.#value.keep(chunk, this.#before)
    this.#before += length
    return this.#next !== NOTHING
  }

  /** Whether the text so far is one whole object. */
  get isWhole(): boolean {
    return this.#next === END
  }

  /**
   * Reads as much as it can of what is inside the value of a member, and returns the position after it. It does what the methods
   * below do one byte at a time, for whole texts and scalars: almost everything is inside a value.
   */
  #readNested(marks: ChunkMarks, from: number): number {
    const { chunk } = marks
    const { length } = chunk
    const open = this.#open
    let at = from
    let depth = this.#depth
    let next = this.#next
    while (at < length) {
      const byte = chunk[at] ?? 0
      const closing = open[depth]
      if (byte === closing && (next === SEPARATOR || next >= FIRST_KEY)) {
        // The end of the member is not inside it.
        if (depth === 2) break
        depth -= 1
        next = SEPARATOR
      } else if (byte === COMMA && next === SEPARATOR) {
        next = closing === CLOSE_OBJECT ? KEY : VALUE
      } else if (byte === COLON_BYTE && next === COLON) {
        next = VALUE
      } else if (byte === QUOTE && next !== SEPARATOR && next !== COLON) {
        const end = endOfString(marks, at + 1)
        if (end >= length || end === INVALID) break
        next = next === KEY || next === FIRST_KEY ? COLON : SEPARATOR
        at = end
      } else if (next === VALUE || next === FIRST_VALUE) {
        const end = byte === OPEN_OBJECT || byte === OPEN_LIST ? at : endOfLiteral(chunk, at)
        if (end === -1 || depth === MOST_DEPTH) break
        if (end === at) {
          depth += 1
          open[depth] = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST
          next = byte === OPEN_OBJECT ? FIRST_KEY : FIRST_VALUE
        } else {
          next = SEPARATOR
          at = end
        }
      } else break
      at += 1
    }
    this.#depth = depth
    this.#next = next
    return at
  }

  /** Reads one byte outside of texts and scalars, and returns the position after it. */
  #readMark(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0
    if (isSpace(byte)) return at + 1
    const next = this.#next
    if (next === SEPARATOR) this.#separate(chunk, byte, at)
    else if (next === COLON) this.#next = byte === COLON_BYTE ? VALUE : NOTHING
    else if (next >= FIRST_KEY && byte === this.#open[this.#depth]) this.#close(chunk, at)
    else if (next === KEY || next === FIRST_KEY) this.#beginKey(byte, at)
    else return this.#beginValue(byte, at)
    return at + 1
  }

  #separate(chunk: Buffer, byte: number, at: number): void {
    const closing = this.#open[this.#depth]
    if (byte === closing) this.#close(chunk, at)
    else if (byte !== COMMA) this.#next = NOTHING
    else this.#next = closing === CLOSE_OBJECT ? KEY : VALUE
  }

  #beginKey(byte: number, at: number): void {
    this.#next = byte === QUOTE ? KEY_TEXT : NOTHING
    if (this.#depth === 1) this.#key.begin(this.#before + at + 1)
  }

  /** Returns the position at which reading continues. */
  #beginValue(byte: number, at: number): number {
    if (this.#next === BEGINNING && byte !== OPEN_OBJECT) this.#next = NOTHING
    // Nothing may follow the object.
    if (this.#next === END || this.#next === NOTHING) {
      this.#next = NOTHING
      return at
    }
    if (this.#depth === 1) this.#value.begin(this.#before + at)
    if (byte === QUOTE) this.#next = TEXT
    else if (byte === OPEN_OBJECT) this.#begin(CLOSE_OBJECT, FIRST_KEY)
    else if (byte === OPEN_LIST) this.#begin(CLOSE_LIST, FIRST_VALUE)
    else {
      this.#next = SCALAR
      return at
    }
    return at + 1
  }

  #begin(closing: number, next: Next): void {
    this.#depth += 1
    this.#open[this.#depth] = closing
    this.#next = this.#depth > MOST_DEPTH ? NOTHING : next
  }

  #close(chunk: Buffer, at: number): void {
    this.#depth -= 1
    this.#ended(chunk, at + 1)
  }

  /** A value ended before `to`. */
  #ended(chunk: Buffer, to: number): void {
    this.#next = this.#depth === 0 ? END : SEPARATOR
    if (this.#depth !== 1) return
    const { from } = this.#value
    const beginning = this.#value.end(chunk, this.#before, to)
    this.members.push({ key: this.keys.at(-1) ?? '', from, to: this.#before + to, beginning })
  }

  #readText(marks: ChunkMarks, from: number): number {
    const { chunk } = marks
    const { pending, at } = continueEscape(chunk, { pending: this.#pending, at: from })
    const isInside = pending > 0 || at === INVALID
    const end = isInside ? at : endOfString(marks, at)
    this.#pending = isInside ? pending : Math.max(0, end - chunk.length)
    if (end === INVALID) this.#next = NOTHING
    if (end === INVALID || end >= chunk.length) return chunk.length
    if (this.#next === TEXT) this.#ended(chunk, end + 1)
    else {
      this.#next = COLON
      if (this.#depth === 1) this.#addKey(this.#key.end(chunk, this.#before, end))
    }
    return end + 1
  }

  #addKey(key: Buffer): void {
    this.keys.push(key.toString('utf8'))
    if (this.keys.length > MOST_MEMBERS) this.#next = NOTHING
  }

  #readScalar(chunk: Buffer, from: number): number {
    let to = from
    const most = from + LONGEST_SCALAR + 1 - this.#scalar.length
    while (to < most && isScalar(chunk[to])) to += 1
    this.#scalar += chunk.toString('latin1', from, to)
    if (to === chunk.length) return to
    if (SCALAR_TEXT.test(this.#scalar)) this.#ended(chunk, to)
    else this.#next = NOTHING
    this.#scalar = ''
    return to
  }
}

/** The beginning of a part of the text that may be in several chunks. */
class Beginning {
  from = 0
  #isOpen = false
  #pieces: Buffer[] = []
  #length = 0

  begin(from: number): void {
    this.from = from
    this.#isOpen = true
    this.#pieces = []
    this.#length = 0
  }

  /** Copies what belongs to the part, if it has not ended. A chunk begins at `before` and may belong to it up to `to`. */
  keep(chunk: Buffer, before: number, to = chunk.length): void {
    if (!this.#isOpen || this.#length === LONGEST_BEGINNING) return
    const start = Math.max(0, this.from - before)
    const piece = chunk.subarray(start, Math.min(to, start + LONGEST_BEGINNING - this.#length))
    // Not a view of the chunk, which would keep all of it in memory.
    this.#pieces.push(Buffer.from(piece))
    this.#length += piece.length
  }

  end(chunk: Buffer, before: number, to: number): Buffer {
    this.keep(chunk, before, to)
    this.#isOpen = false
    return Buffer.concat(this.#pieces)
  }
}

const MOST_MEMBERS = 256
const MOST_DEPTH = 512
const LONGEST_BEGINNING = 1024

const QUOTE = 0x22
const COMMA = 0x2c
const COLON_BYTE = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What comes next; numbers, for speed. At the first place in a list or an object, its end may come as well. */
type Next = number
const NOTHING = 0
const BEGINNING = 1
const END = 2
const SEPARATOR = 3
const COLON = 4
const KEY = 5
const VALUE = 6
const KEY_TEXT = 7
const TEXT = 8
const SCALAR = 9
const FIRST_KEY = 10
const FIRST_VALUE = 11

const LITERALS = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** The position of the last letter of a literal that ends in this chunk; -1 for everything else. */
function endOfLiteral(chunk: Buffer, at: number): number {
  const word = LITERALS.find((one) => one[0] === chunk[at])
  if (word === undefined) return -1
  for (let index = 1; index < word.length; index += 1) {
    if (chunk[at + index] !== word[index]) return -1
  }
  const end = at + word.length
  return end >= chunk.length || isScalar(chunk[end]) ? -1 : end - 1
}

const LONGEST_SCALAR = 64
const SCALAR_TEXT = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Digits, letters, signs and the point. */
function isScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false
  if (byte >= 0x30 && byte <= 0x39) return true
  const isLetter = (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
  return isLetter || byte === 0x2b || byte === 0x2d || byte === 0x2e
}
