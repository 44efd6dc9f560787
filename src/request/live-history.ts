import type { BlobStore } from '../blobs/store.ts'
import type { LoggedEvent, WholeEvent } from '../model/events/event.ts'
import { isWhole, wholeEvent } from './whole-event.ts'

/** The Events of a Session that folds read, each with its long fields back in place; grows as the Log does. */
export class LiveHistory {
  readonly #store: BlobStore
  readonly #events: WholeEvent[] = []

  constructor(store: BlobStore) {
    this.#store = store
  }

  get events(): readonly WholeEvent[] {
    return this.#events
  }

  /** Adds lines in the order of the Log. Events of unknown type or shape say nothing to a model. */
  async add(lines: readonly { readonly logged: LoggedEvent }[]): Promise<readonly WholeEvent[]> {
    const added: WholeEvent[] = []
    for (const { logged } of lines) {
      if (!logged.known) continue
      const { event } = logged
      // Nearly all of them; waiting for each would take longer than all else here.
      const whole = isWhole(event) ? event : await wholeEvent(this.#store, event)
      if (whole === undefined) continue
      added.push(whole)
      this.#events.push(whole)
    }
    return added
  }
}
