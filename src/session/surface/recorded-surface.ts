import type { BlobStore } from '../../blobs/store.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { thawSurface } from '../../prompt/surface.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'

/** A frozen surface, and the Event that names its hashes. */
export interface RecordedSurface {
  readonly surface: Surface
  readonly event: EventData<'prompt_surface'>
}

/**
 * The surface in force after these Events. If it is `known`, the result is the same object, so that what is encoded for it is
 * not encoded again; its blob must be readable nevertheless.
 */
export async function recordedSurface(
  store: BlobStore,
  events: readonly WholeEvent[],
  known?: RecordedSurface,
): Promise<Result<RecordedSurface>> {
  const event = surfaceAfter(events)
  if (event === undefined) return failed('log_damaged', 'This Session has no prompt surface.')
  const same = known?.event.blob === event.blob ? known.surface : undefined
  const surface = await frozenSurface(store, event.blob, same)
  return surface.ok ? ok({ surface: surface.value, event }) : surface
}

/** The frozen surface in a blob; `known` is that surface, if it was read before. */
export async function frozenSurface(
  store: BlobStore,
  key: BlobKey,
  known?: Surface,
): Promise<Result<Surface>> {
  const blob = await store.get(key)
  if (!blob.ok) return blob
  const surface = known ?? thawSurface(blob.value)
  return surface === undefined
    ? failed('log_damaged', 'The prompt surface is not readable.')
    : ok(surface)
}
