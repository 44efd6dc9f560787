import type { BlobStore } from '../blobs/store.ts'
import { parseJson } from '../encoding/json.ts'
import type { LogLine } from '../log/line.ts'
import { spilledBlobs, withoutSpilling, type Event, type WholeEvent } from '../model/event.ts'

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
  async add(lines: readonly LogLine[]): Promise<readonly WholeEvent[]> {
    const added: WholeEvent[] = []
    for (const { logged } of lines) {
      if (!logged.known) continue
      const whole = await this.#whole(logged.event)
      if (whole !== undefined) added.push(whole)
    }
    this.#events.push(...added)
    return added
  }

  async #whole(event: Event): Promise<WholeEvent | undefined> {
    const spilled = spilledBlobs(event)
    if (isWhole(event, spilled)) return event
    const values: Record<string, unknown> = {}
    for (const [field, key] of spilled) {
      const blob = await this.#store.get(key)
      // Never nothing: what cannot be shown becomes a sentence that says so.
      const text = blob.ok
        ? blob.value.toString('utf8')
        : `[The payload of this ${field} is missing.]`
      values[field] = key.endsWith('.json') && blob.ok ? parseJson(text) : text
    }
    return withoutSpilling(event, values)
  }
}

/** It was found to be what its type demands when its line was read, and nothing of it stands elsewhere. */
function isWhole(event: Event, spilled: ReadonlyMap<string, unknown>): event is WholeEvent & Event {
  return spilled.size === 0
}
