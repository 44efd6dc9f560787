import type { FrameEntry } from './frame-entry.ts'
import { isDelta } from './guest-frames.ts'

/** Bounds of the frames that are held in memory. */
export interface MemoryBounds {
  readonly frames: number
  /** Characters of JSON text. */
  readonly characters: number
}

/**
 * The newest frames of a log. It contains every frame with a number above `after`, deltas included; older ones are on disk,
 * without their deltas.
 */
export class FrameMemory {
  readonly #bounds: MemoryBounds
  #entries: (FrameEntry | undefined)[] = []
  /** Entries before this index are forgotten. */
  #start = 0
  #characters = 0
  #after: number
  #forgottenDelta = 0

  /** `after`: frames up to this number are on disk only. */
  constructor(bounds: MemoryBounds, after: number) {
    this.#bounds = bounds
    this.#after = after
  }

  get after(): number {
    return this.#after
  }

  /** The highest number of a delta that can no longer be read. */
  get forgottenDelta(): number {
    return this.#forgottenDelta
  }

  /** Nothing remembers deltas up to this number. */
  forgetDeltas(through: number): void {
    this.#forgottenDelta = Math.max(this.#forgottenDelta, through)
  }

  get size(): number {
    return this.#entries.length - this.#start
  }

  add(added: FrameEntry): void {
    const entry = slim(added)
    this.#entries.push(entry)
    this.#characters += entry.text.length
    while (this.size > this.#bounds.frames || this.#isTooLarge) this.#forget()
    // Removes what was forgotten, many at a time.
    if (this.#start <= this.#bounds.frames) return
    this.#entries = this.#entries.slice(this.#start)
    this.#start = 0
  }

  /** Entries with numbers above `after`, in order. */
  *since(after: number): Generator<FrameEntry> {
    for (let at = this.#firstAbove(after); at < this.#entries.length; at++) {
      const entry = this.#entries[at]
      if (entry !== undefined) yield entry
    }
  }

  /** Entries with numbers below `before`, newest first. */
  *backFrom(before: number): Generator<FrameEntry> {
    for (let at = this.#firstAbove(before - 1) - 1; at >= this.#start; at--) {
      const entry = this.#entries[at]
      if (entry !== undefined) yield entry
    }
  }

  get #isTooLarge(): boolean {
    return this.#characters > this.#bounds.characters && this.size > 1
  }

  #forget(): void {
    const oldest = this.#entries[this.#start]
    if (oldest === undefined) return
    this.#entries[this.#start] = undefined
    this.#start += 1
    this.#characters -= oldest.text.length
    this.#after = oldest.seq
    if (isDelta(oldest)) this.#forgottenDelta = oldest.seq
  }

  #firstAbove(seq: number): number {
    let [low, high] = [this.#start, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.seq ?? 0) > seq) high = middle
      else low = middle + 1
    }
    return low
  }
}

const MOST_SHARED = 4_096
const shared = new Map<string, string>()

/** One string for all frames that repeat it. */
function sharedString(text: string): string {
  const known = shared.get(text)
  if (known !== undefined) return known
  if (shared.size >= MOST_SHARED) shared.clear()
  shared.set(text, text)
  return text
}

/** The same entry without what only the writer needs. */
function slim({ seq, type, channel, session, replyTo, text }: FrameEntry): FrameEntry {
  return {
    seq,
    type: sharedString(type),
    channel: sharedString(channel),
    session: sharedString(session),
    replyTo: replyTo === undefined ? undefined : sharedString(replyTo),
    text,
  }
}
