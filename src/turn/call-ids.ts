import { sha256 } from '../encoding/hash.ts'
import { IdFilter } from '../encoding/id-filter.ts'
import { historyOf } from '../history/history.ts'
import type { WholeEvent } from '../model/events/event.ts'

/** The ids of all calls of a Session. Each is unique in the Session, across models and checkpoints. */
export class CallIds {
  readonly #events: () => readonly WholeEvent[]
  readonly #usedIds = new Set<string>()
  readonly #before: IdFilter | undefined
  #read = 0

  constructor(events: () => readonly WholeEvent[]) {
    this.#events = events
    const { call_ids } = historyOf(events()).state
    this.#before = call_ids === undefined ? undefined : new IdFilter(call_ids)
  }

  /** Returns `id`, or an unused id derived from it, and marks it as used. */
  claim(id: string): string {
    this.#readNew()
    let found = id
    // The number of the last Event grows with every answer, so that a derived id never repeats.
    const seq = this.#events().at(-1)?.seq ?? -1
    for (let n = 1; n === 1 ? this.#isUsed(found) : this.#usedIds.has(found); n += 1) {
      found = `call_${sha256(`${seq} ${n} ${id}`).slice(0, 24)}`
    }
    this.#usedIds.add(found)
    return found
  }

  /** Of ids that were never used, a few count as used if they may be from before the checkpoint. */
  #isUsed(id: string): boolean {
    return this.#usedIds.has(id) || this.#before?.mayContain(id) === true
  }

  #readNew(): void {
    const events = this.#events()
    for (; this.#read < events.length; this.#read += 1) {
      const event = events[this.#read]
      if (event?.type === 'tool_call') this.#usedIds.add(event.data.call_id)
    }
  }
}
