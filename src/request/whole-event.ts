import type { BlobStore } from '../blobs/store.ts'
import { parseJson } from '../encoding/json.ts'
import { fieldMissing } from '../encoding/words/resources.ts'
import {
  spilledBlobs,
  withoutSpilling,
  type Event,
  type WholeEvent,
} from '../model/events/event.ts'

/**
 * The Event with its long fields back in place. Never nothing: what cannot be had of them becomes a sentence that says so.
 * `undefined` when it is then not what its type demands: whoever made a blob, it need not hold what an Event needs.
 */
export async function wholeEvent(store: BlobStore, event: Event): Promise<WholeEvent | undefined> {
  if (isWhole(event)) return event
  const spilled = spilledBlobs(event)
  const values: Record<string, unknown> = {}
  for (const [field, key] of spilled) {
    const blob = await store.get(key)
    const text = blob.ok ? blob.value.toString('utf8') : undefined
    const value = key.endsWith('.json') ? parseJson(text ?? '') : text
    values[field] = value ?? fieldMissing(field)
  }
  return withoutSpilling(event, values)
}

/** It was found to be what its type demands when its line was read, and nothing of it stands elsewhere. */
export function isWhole(event: Event): event is WholeEvent & Event {
  return spilledBlobs(event).size === 0
}
