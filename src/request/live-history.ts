import type { BlobStore } from '../blobs/store.ts'
import { historyOf } from '../history/history.ts'
import type { LoggedEvent, WholeEvent } from '../model/events/event.ts'
import { isWhole, wholeEvent, type Inherits } from './whole-event.ts'

/** An Event as a Log delivers it. */
export interface HistoryLine {
  readonly content: LoggedEvent
  readonly inheritance?: Inherits
}

/** The Events of a Session for folds, each with its long fields loaded; grows with the Log. */
export class LiveHistory {
  readonly #store: BlobStore
  #events: WholeEvent[] = []

  constructor(store: BlobStore) {
    this.#store = store
  }

  get events(): readonly WholeEvent[] {
    return this.#events
  }

  /** Adds lines in Log order. Events of unknown type or shape are skipped. */
  async add(lines: readonly HistoryLine[]): Promise<readonly WholeEvent[]> {
    const events = this.#events
    const first = events.length
    for (const { content, inheritance } of lines) {
      if (!content.isKnown) continue
      const { event } = content
      // Nearly all Events are whole; awaiting each would dominate the time here.
      const whole = isWhole(event) ? event : await wholeEvent(this.#store, event, inheritance)
      if (whole !== undefined) events.push(whole)
    }
    return events.slice(first)
  }

  /**
   * Drops the Events that a checkpoint replaced, in a new list, because requests refer to the old one. Returns the number of
   * the first raw Event.
   */
  trim(): number {
    const { checkpoint, events } = historyOf(this.#events)
    if (events.length < this.#events.length) this.#events = [...events]
    return checkpoint?.data.tail.from_seq ?? 0
  }
}
