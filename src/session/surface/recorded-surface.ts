import type { BlobStore } from '../../blobs/store.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { thawSurface } from '../../contract/surface.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
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
  const recorded = surfaceAfter(events)
  if (recorded === undefined) return failed('log_damaged', 'This Session has no prompt surface.')
  const surface = await frozenSurface(store, recorded.blob)
  return surface.ok ? ok({ surface: surface.value, recorded }) : surface
}

/** The frozen surface in a blob. */
export async function frozenSurface(store: BlobStore, key: BlobKey): Promise<Result<Surface>> {
  const blob = await store.get(key)
  if (!blob.ok) return blob
  const surface = thawSurface(blob.value)
  return surface === undefined
    ? failed('log_damaged', 'The prompt surface is not readable.')
    : ok(surface)
}
