import type { BlobStore } from '../../blobs/store.ts'
import { thawSurface } from '../../contract/surface.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { Surface } from '../../model/surface.ts'

/** A frozen surface, and the Event that names its hashes. */
export interface RecordedSurface {
  readonly surface: Surface
  readonly recorded: EventData<'prompt_surface'>
}

/** The surface in force after these Events. */
export async function recordedSurface(
  store: BlobStore,
  events: readonly WholeEvent[],
): Promise<Result<RecordedSurface>> {
  const last = events.findLast((event) => event.type === 'prompt_surface')
  if (last === undefined) return failed('log_damaged', 'This Session has no prompt surface.')
  const blob = await store.get(last.data.blob)
  if (!blob.ok) return blob
  const surface = thawSurface(blob.value)
  if (surface === undefined) return failed('log_damaged', 'The prompt surface is not readable.')
  return ok({ surface, recorded: last.data })
}
