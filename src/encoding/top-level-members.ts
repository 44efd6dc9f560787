/** A member of a JSON object. Positions are in bytes of the text; `to` is exclusive. */
export interface Member {
  /** As written, without its quotes: escape sequences are not decoded. */
  readonly key: string
  readonly from: number
  readonly to: number
}

/**
 * The members of the object that a JSON text consists of, in order, repeated keys included; `undefined` if the text is anything
 * else, nests too deep or has too many members. Reads each byte at most twice and long strings much faster, keeps no value, and
 * checks everything but the content of strings. Pure.
 */
export function topLevelMembers(json: Buffer): readonly Member[] | undefined {
  return new Scan(json).members()
}

const MOST_MEMBERS = 256
const MOST_DEPTH = 512

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What may come next. At the first place in a list or an object, its end may come as well. */
type Next = 'value' | 'first value' | 'key' | 'first key' | 'separator'

class Scan {
  readonly #json: Buffer
  readonly #members: Member[] = []
  /** The closing brackets of everything open, the innermost last. */
  readonly #open: number[] = []
  #at = 0
  #key = ''
  #valueFrom = 0

  constructor(json: Buffer) {
    this.#json = json
  }

  members(): readonly Member[] | undefined {
    this.#skipSpace()
    if (this.#json[this.#at] !== OPEN_OBJECT) return undefined
    let next: Next | undefined = 'value'
    do {
      next = this.#step(next)
      this.#skipSpace()
      if (next === undefined || this.#members.length > MOST_MEMBERS) return undefined
    } while (this.#open.length > 0)
    return this.#at === this.#json.length ? this.#members : undefined
  }

  #step(next: Next): Next | undefined {
    const byte = this.#json[this.#at]
    if (next === 'separator') return this.#separator(byte)
    const isFirst = next === 'first value' || next === 'first key'
    if (isFirst && byte === this.#open.at(-1)) return this.#close()
    return next === 'key' || next === 'first key' ? this.#readKey(byte) : this.#readValue(byte)
  }

  #separator(byte: number | undefined): Next | undefined {
    const closing = this.#open.at(-1)
    if (byte === closing) return this.#close()
    if (byte !== COMMA) return undefined
    this.#at += 1
    return closing === CLOSE_OBJECT ? 'key' : 'value'
  }

  #readKey(byte: number | undefined): Next | undefined {
    if (byte !== QUOTE) return undefined
    const from = this.#at + 1
    if (!this.#skipString()) return undefined
    const isTop = this.#open.length === 1
    if (isTop) this.#key = this.#json.toString('utf8', from, this.#at - 1)
    this.#skipSpace()
    if (this.#json[this.#at] !== COLON) return undefined
    this.#at += 1
    this.#skipSpace()
    if (isTop) this.#valueFrom = this.#at
    return 'value'
  }

  #readValue(byte: number | undefined): Next | undefined {
    if (byte === OPEN_OBJECT) return this.#begin(CLOSE_OBJECT, 'first key')
    if (byte === OPEN_LIST) return this.#begin(CLOSE_LIST, 'first value')
    return (byte === QUOTE ? this.#skipString() : this.#skipScalar()) ? this.#ended() : undefined
  }

  #begin(closing: number, next: Next): Next | undefined {
    this.#open.push(closing)
    this.#at += 1
    return this.#open.length > MOST_DEPTH ? undefined : next
  }

  #close(): Next {
    this.#open.pop()
    this.#at += 1
    return this.#ended()
  }

  /** A value ended here. */
  #ended(): Next {
    if (this.#open.length === 1) {
      this.#members.push({ key: this.#key, from: this.#valueFrom, to: this.#at })
    }
    return 'separator'
  }

  #skipSpace(): void {
    while (isSpace(this.#json[this.#at])) this.#at += 1
  }

  /** Moves from the opening quote of a string behind its closing one. */
  #skipString(): boolean {
    const json = this.#json
    let at = this.#at + 1
    // Most strings are short, and a search costs as much as reading some dozens of bytes.
    for (const near = at + NEAR_BYTES; at < near; at += 1) {
      const byte = json[at]
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) return this.#goTo(at + 1)
    }
    for (let end = json.indexOf(QUOTE, at); end !== -1; end = json.indexOf(QUOTE, end + 1)) {
      let before = end
      while (before > at && json[before - 1] === BACKSLASH) before -= 1
      if ((end - before) % 2 === 0) return this.#goTo(end + 1)
    }
    return false
  }

  #goTo(at: number): boolean {
    this.#at = at
    return at <= this.#json.length
  }

  #skipScalar(): boolean {
    const from = this.#at
    let to = from
    while (to - from <= LONGEST_SCALAR && isScalar(this.#json[to])) to += 1
    return SCALAR.test(this.#json.toString('latin1', from, to)) && this.#goTo(to)
  }
}

const NEAR_BYTES = 64
const LONGEST_SCALAR = 64
const SCALAR = /^(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)$/

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Digits, letters, signs and the point. */
function isScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false
  if (byte >= 0x30 && byte <= 0x39) return true
  const isLetter = (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a)
  return isLetter || byte === 0x2b || byte === 0x2d || byte === 0x2e
}
