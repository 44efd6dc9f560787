import type { BlobStore } from '../blobs/store.ts'
import { parseJson } from '../encoding/json.ts'
import { fieldMissing } from '../prompt/words/resources.ts'
import {
  spilledBlobs,
  withoutSpilling,
  type Event,
  type WholeEvent,
} from '../model/events/event.ts'

/** How the long fields of a line are read that the Session has inherited. */
export interface Inherits {
  fields(type: string, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
}

/**
 * Loads the long fields of an Event. An unavailable field becomes a sentence that says so. `undefined` if the result
 * does not match the Event's type, because a blob may contain anything. `inheritance`: of
 * an inherited line.
 */
export async function wholeEvent(
  store: BlobStore,
  event: Event,
  inheritance?: Inherits,
): Promise<WholeEvent | undefined> {
  if (isWhole(event)) return event
  const spilled = spilledBlobs(event)
  const values: Record<string, unknown> = {}
  for (const [field, key] of spilled) {
    const blob = await store.get(key)
    const text = blob.ok ? blob.value.toString('utf8') : undefined
    const value = key.endsWith('.json') ? parseJson(text ?? '') : text
    values[field] = value ?? fieldMissing(field)
  }
  return withoutSpilling(event, inheritance?.fields(event.type, values) ?? values)
}

/** Its data was checked when its line was read, and no field is in a blob. */
export function isWhole(event: Event): event is WholeEvent & Event {
  return spilledBlobs(event).size === 0
}
