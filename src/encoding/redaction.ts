import { KeyAutomaton } from './key-automaton.ts'

/** Replaces a key. Unlike `[key]`, it is unlikely to occur in source code. */
export const KEY_PLACEHOLDER = '[redacted key]'

/** A shorter key cannot be distinguished from ordinary text and is not redacted. */
export const SHORTEST_KEY = 8

/** Redacts one stream. The results of all `push` calls and of `end`, joined, are the redaction of the whole stream. */
export interface RedactedStream<T> {
  /** Adds a chunk and returns what is final: it holds back at most the length of the longest key minus one. */
  readonly push: (chunk: T) => T
  /**
   * Returns what was held back. Must be called once, after the last chunk. `cutOff`: the stream was cut off, so a recognizable
   * prefix of a key at its end is redacted as well.
   */
  readonly end: (cutOff?: boolean) => T
}

/**
 * Replaces known keys by a placeholder, by exact value. Every character of an occurrence is removed, and overlapping occurrences
 * become one placeholder. The result does not depend on the order of the keys or on the chunks of a stream. Keys in another
 * encoding (base64, percent-encoding) and parts of keys are not found. Pure.
 */
export class Redactor {
  readonly keys: readonly string[]
  readonly #bytes: readonly Buffer[]
  #byteAutomaton: KeyAutomaton | undefined
  #textAutomaton: KeyAutomaton | undefined

  constructor(keys: readonly string[]) {
    this.keys = [...new Set(keys)].filter((key) => key !== '')
    this.#bytes = this.keys.map((key) => Buffer.from(key))
  }

  /** Whether text or bytes contain a key. */
  holds(content: string | Buffer): boolean {
    return typeof content === 'string'
      ? this.keys.some((key) => content.includes(key))
      : this.#bytes.some((key) => content.includes(key))
  }

  /** Whether a key occurs fewer times in `after` than in `before`. */
  isLost(before: Buffer, after: Buffer): boolean {
    return this.#bytes.some((key) => occurrences(before, key) > occurrences(after, key))
  }

  /** Returns the same text if it contains no key. */
  text(text: string): string {
    return this.holds(text) ? whole(this.textStream(), text, TEXT) : text
  }

  /**
   * Text that a program without knowledge of the keys may have cut off, with or without an ellipsis: a recognizable beginning
   * of a key at its end is redacted as well.
   */
  cutText(text: string): string {
    const body = text.endsWith(ELLIPSIS) ? text.slice(0, -ELLIPSIS.length) : text
    const { push, end } = this.textStream()
    return push(body) + end(true) + text.slice(body.length)
  }

  /** Returns the same bytes if they contain no key. */
  bytes(bytes: Buffer): Buffer {
    return this.holds(bytes) ? whole(this.byteStream(), bytes, BYTES) : bytes
  }

  /** A copy of a JSON value with its strings and property names redacted; the same value if it contains no key. */
  value<T>(value: T): T
  value(value: unknown): unknown {
    return this.keys.length > 0 && this.#isIn(value) ? this.#without(value) : value
  }

  /**
   * Puts the keys back into redacted bytes, if a result is accepted by `isExact`. Tries the same key in all places, and other
   * combinations up to a limit.
   */
  restore(redacted: Buffer, isExact: (candidate: Buffer) => boolean): Buffer | undefined {
    const pieces = split(redacted, BYTES.placeholder)
    const choices = [...this.#bytes, BYTES.placeholder]
    const places = pieces.length - 1
    const tries = Math.min(MOST_TRIES, Math.floor(MOST_TRIED_BYTES / (redacted.length + 1)))
    const all = choices.length ** places
    const same = choices.map((choice) => fillPlaces(pieces, () => choice))
    const found = same.find(isExact)
    if (found !== undefined || all > tries) return found
    for (let number = 0; number < all; number += 1) {
      const chosen = (place: number) =>
        choices[Math.floor(number / choices.length ** place) % choices.length]
      const candidate = fillPlaces(pieces, (place) => chosen(place) ?? BYTES.placeholder)
      if (isExact(candidate)) return candidate
    }
    return undefined
  }

  byteStream(): RedactedStream<Buffer> {
    this.#byteAutomaton ??= new KeyAutomaton(this.#bytes.map((key) => [...key]))
    return new Scan(this.#byteAutomaton, BYTES, (bytes) => this.holds(bytes))
  }

  textStream(): RedactedStream<string> {
    this.#textAutomaton ??= new KeyAutomaton(
      this.keys.map((key) => Array.from({ length: key.length }, (_, at) => key.charCodeAt(at))),
    )
    return new Scan(this.#textAutomaton, TEXT, (text) => this.holds(text))
  }

  /** Redacts a stream of bytes as it is read. */
  async *chunks(
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    const stream = this.byteStream()
    for await (const chunk of content) {
      const clean = stream.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      if (clean.length > 0) yield clean
    }
    const rest = stream.end()
    if (rest.length > 0) yield rest
  }

  #isIn(value: unknown): boolean {
    if (typeof value === 'string') return this.holds(value)
    if (typeof value !== 'object' || value === null) return false
    return Object.entries(value).some(([name, inner]) => this.holds(name) || this.#isIn(inner))
  }

  #without(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((inner) => this.#without(inner))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([name, inner]) => [
      this.text(name),
      this.#without(inner),
    ])
    return Object.fromEntries(entries)
  }
}

/** Finds keys in text that is JSON already, where a key may be escaped. */
export function jsonRedactor(keys: readonly string[]): Redactor {
  return new Redactor(keys.flatMap((key) => [key, JSON.stringify(key).slice(1, -1)]))
}

const ELLIPSIS = '…'
const MOST_TRIES = 4_096
const MOST_TRIED_BYTES = 256 * 1024 * 1024

function split(bytes: Buffer, by: Buffer): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (let at = bytes.indexOf(by); at !== -1; at = bytes.indexOf(by, from)) {
    pieces.push(bytes.subarray(from, at))
    from = at + by.length
  }
  return [...pieces, bytes.subarray(from)]
}

function fillPlaces(pieces: readonly Buffer[], choice: (place: number) => Buffer): Buffer {
  return Buffer.concat(
    pieces.flatMap((piece, at) => (at === 0 ? [piece] : [choice(at - 1), piece])),
  )
}

function occurrences(bytes: Buffer, key: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(key); at !== -1; at = bytes.indexOf(key, at + 1)) count += 1
  return count
}

function whole<T>({ push, end }: RedactedStream<T>, content: T, { join }: Units<T>): T {
  return join([push(content), end()])
}

/** How to read and slice one type of sequence. */
interface Units<T> {
  readonly placeholder: T
  readonly lengthOf: (content: T) => number
  readonly at: (content: T, index: number) => number
  readonly slice: (content: T, from: number, to?: number) => T
  readonly join: (pieces: readonly T[]) => T
}

const TEXT: Units<string> = {
  placeholder: KEY_PLACEHOLDER,
  lengthOf: (text) => text.length,
  at: (text, index) => text.charCodeAt(index),
  slice: (text, from, to) => text.slice(from, to),
  join: (pieces) => pieces.join(''),
}

const BYTES: Units<Buffer> = {
  placeholder: Buffer.from(KEY_PLACEHOLDER),
  lengthOf: (bytes) => bytes.length,
  at: (bytes, index) => bytes[index] ?? 0,
  slice: (bytes, from, to) => bytes.subarray(from, to),
  join: (pieces) => (pieces.length === 1 ? (pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(pieces)),
}

/** Positions count units from the start of the stream; `to` is exclusive. */
interface Run {
  readonly from: number
  readonly to: number
}

class Scan<T> implements RedactedStream<T> {
  readonly #automaton: KeyAutomaton
  readonly #units: Units<T>
  readonly #holds: (content: T) => boolean
  #state = 0
  /** Units that are neither returned nor redacted; the first has position `#start`. */
  #pending: T
  #start = 0
  /** The position after the last returned placeholder; an overlapping occurrence extends that placeholder. */
  #goneTo = 0
  /** Runs of overlapping occurrences whose start may still move. */
  readonly #runs: Run[] = []

  constructor(automaton: KeyAutomaton, units: Units<T>, holds: (content: T) => boolean) {
    this.#automaton = automaton
    this.#units = units
    this.#holds = holds
    this.#pending = units.join([])
  }

  readonly push = (chunk: T): T => {
    const { lengthOf, at, join } = this.#units
    const { depth, matchLengths } = this.#automaton
    const length = lengthOf(chunk)
    const before = this.#start + lengthOf(this.#pending)
    let state = this.#state
    // The search of the system is much faster. A key that only begins here begins near the end.
    const isClean = state === 0 && !this.#holds(chunk)
    const from = isClean ? Math.max(0, length - this.#automaton.longest + 1) : 0
    for (let index = from; index < length; index += 1) {
      state = this.#automaton.next(state, at(chunk, index))
      const found = matchLengths[state] ?? 0
      if (found > 0) this.#add(before + index + 1 - found, before + index + 1)
    }
    this.#state = state
    this.#pending = lengthOf(this.#pending) === 0 ? chunk : join([this.#pending, chunk])
    return this.#release(before + length - (depth[state] ?? 0))
  }

  readonly end = (cutOff = false): T => {
    const end = this.#start + this.#units.lengthOf(this.#pending)
    const depth = this.#automaton.depth[this.#state] ?? 0
    if (cutOff && depth >= SHORTEST_KEY) this.#add(end - depth, end)
    return this.#release(end)
  }

  #add(first: number, to: number): void {
    let from = first
    for (let last = this.#runs.at(-1); last !== undefined && last.to > from;) {
      from = Math.min(from, last.from)
      this.#runs.pop()
      last = this.#runs.at(-1)
    }
    if (this.#runs.length === 0 && from < this.#goneTo) this.#goneTo = to
    else this.#runs.push({ from, to })
  }

  /** Returns what no later occurrence can cover: those start at `limit` or after it. */
  #release(limit: number): T {
    const { slice, join, lengthOf, placeholder } = this.#units
    const end = this.#start + lengthOf(this.#pending)
    const pieces: T[] = []
    let from = Math.max(this.#start, Math.min(this.#goneTo, end))
    const take = (to: number) => {
      if (to > from) pieces.push(slice(this.#pending, from - this.#start, to - this.#start))
      from = Math.max(from, to)
    }
    for (let run = this.#runs[0]; run !== undefined && run.from <= limit; run = this.#runs[0]) {
      take(run.from)
      pieces.push(placeholder)
      from = run.to
      this.#goneTo = run.to
      this.#runs.shift()
    }
    take(limit)
    this.#pending = slice(this.#pending, from - this.#start)
    this.#start = from
    return join(pieces)
  }
}
