import type { Clock } from '../../host/clock.ts'
import { withinTime } from '../../host/time-limit.ts'

/** Why a search stopped early: it took too long, or the pattern is too complex. */
export type StoppedBecause = 'timeout' | 'too_complex'

export interface TextPlace {
  /** The Event that has the text, the same object for all its texts. */
  readonly event: object
  /** The text repeats lines of an earlier text of the Event, whose matches count only once. */
  readonly repeats?: boolean
}

/** A line that matches, and the matching range. */
export interface LineMatch<Place> {
  readonly place: Place
  readonly text: string
  readonly start: number
  readonly end: number
}

interface LineSearchOptions {
  readonly pattern: RegExp
  /** Time limits of all runs together, and of one. */
  readonly budgetMs: number
  readonly batchMs?: number
  /** Maximum number of matches. */
  readonly limit: number
}

/** Text is searched in batches, because starting an interruptible search has a fixed cost. */
const BATCH_CHARACTERS = 256 * 1024

/** Searches the lines of texts in order, within a time limit and up to a number of matches. */
export class LineSearch<Place extends TextPlace> {
  readonly #clock: Clock
  readonly #pattern: RegExp
  readonly #batchMs: number
  #budgetMs: number
  #limit: number
  #texts: { readonly place: Place; readonly text: string }[] = []
  #waiting = 0
  #stopPlace: { readonly place: Place; readonly why: StoppedBecause } | undefined
  /** An Event, and its matching lines. */
  #event: TextPlace['event'] | undefined
  #lines = new Set<string>()

  constructor(clock: Clock, options: LineSearchOptions) {
    this.#clock = clock
    this.#pattern = options.pattern
    this.#budgetMs = options.budgetMs
    this.#batchMs = options.batchMs ?? Infinity
    this.#limit = options.limit
  }

  get isOver(): boolean {
    return this.#stopPlace !== undefined || this.#limit <= 0
  }

  /** Set if the pattern stopped the search. */
  get stopPlace(): { readonly place: Place; readonly why: StoppedBecause } | undefined {
    return this.#stopPlace
  }

  /** Enough text is added for a run. */
  get isFull(): boolean {
    return this.#waiting >= BATCH_CHARACTERS
  }

  add(place: Place, text: string): void {
    this.#texts.push({ place, text })
    this.#waiting += text.length
  }

  /** Searches the added text. */
  run(): readonly LineMatch<Place>[] {
    const found: LineMatch<Place>[] = []
    const texts = this.#texts
    this.#texts = []
    this.#waiting = 0
    if (this.isOver) return found
    let at = 0
    const started = this.#clock.monotonicMs()
    const ended = withinTime(Math.min(this.#budgetMs, this.#batchMs), () => {
      for (; at < texts.length && found.length < this.#limit; at++) {
        const one = texts[at]
        if (one !== undefined) this.#search(one.place, one.text, found)
        if (this.#stopPlace !== undefined) return
      }
    })
    this.#budgetMs -= this.#clock.monotonicMs() - started
    const place = texts[at]?.place
    if (!ended && place !== undefined) this.#stopPlace = { place, why: 'timeout' }
    this.#limit -= found.length
    return found
  }

  #search(place: Place, whole: string, found: LineMatch<Place>[]): void {
    try {
      for (const text of linesOf(whole)) {
        const match = this.#pattern.exec(text)
        if (match !== null && this.#isNew(place, text)) {
          found.push({ place, text, start: match.index, end: match.index + match[0].length })
        }
        if (found.length >= this.#limit) return
      }
    } catch (error) {
      // The stack of the regular-expression engine overflowed: the pattern is too complex.
      if (!(error instanceof RangeError)) throw error
      this.#stopPlace = { place, why: 'too_complex' }
    }
  }

  #isNew({ event, repeats = false }: Place, text: string): boolean {
    if (event !== this.#event) {
      this.#event = event
      this.#lines = new Set()
    }
    if (repeats) return !this.#lines.has(text)
    this.#lines.add(text)
    return true
  }
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from <= text.length;) {
    const newline = text.indexOf('\n', from)
    const end = newline === -1 ? text.length : newline
    // A final newline does not start another line.
    if (from < text.length) yield text.slice(from, text[end - 1] === '\r' ? end - 1 : end)
    from = end + 1
  }
}
