import { sha256 } from '../encoding/hash.ts'
import type { WholeEvent } from '../model/events/event.ts'

/** The ids of all calls of a Session. Each is unique in the Session, across models. */
export class CallIds {
  readonly #events: () => readonly WholeEvent[]
  readonly #used = new Set<string>()
  #read = 0

  constructor(events: () => readonly WholeEvent[]) {
    this.#events = events
  }

  /** Returns `id`, or an unused id derived from it, and marks it as used. */
  unused(id: string): string {
    this.#readNew()
    let found = id
    for (let n = 1; this.#used.has(found); n += 1) {
      found = `call_${sha256(`${this.#read} ${n} ${id}`).slice(0, 24)}`
    }
    this.#used.add(found)
    return found
  }

  #readNew(): void {
    const events = this.#events()
    for (; this.#read < events.length; this.#read += 1) {
      const event = events[this.#read]
      if (event?.type === 'tool_call') this.#used.add(event.data.call_id)
    }
  }
}
