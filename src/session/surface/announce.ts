import type { BlobStore } from '../../blobs/store.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import { blobSha256 } from '../../model/ids.ts'
import { newerSurface } from './current-surface.ts'
import { frozenSurface } from './recorded-surface.ts'
import type { ModelChoice, SurfaceParts } from './surface-parts.ts'

/**
 * The notice about a surface on disk that is newer than the one in force; `undefined` if there is none, or if this one
 * was announced, in whatever process. Writes nothing.
 */
export async function newSurfaceNotice(
  parts: SurfaceParts & { readonly log: { readonly store: BlobStore } },
  choice: ModelChoice,
  events: readonly WholeEvent[],
): Promise<EventDraft<'notice'> | undefined> {
  const recorded = surfaceAfter(events)
  if (recorded === undefined) return undefined
  const newer = await newerSurface(parts, choice, recorded, 'reload')
  if (newer === undefined) return undefined
  const { blob } = newer.draft.data
  const surface_sha256 = blobSha256(blob)
  if (blob === recorded.blob || isAnnounced(events, surface_sha256)) return undefined
  const before = await frozenSurface(parts.log.store, recorded.blob)
  // An unreadable surface ends the Turn with an error of its own.
  if (!before.ok) return undefined
  // Loaded only if something changed.
  const { surfaceChange } = await import('./surface-change.ts')
  const change = surfaceChange(before.value, newer.frozen.surface)
  const { type, data } = notice('surface_changed', `Newer on disk: ${change}. ${STAYS}`)
  return { type, data: { ...data, surface_sha256 } }
}

/** A checkpoint takes a newer surface over, so no announcement before it matters. */
function isAnnounced(events: readonly WholeEvent[], sha256: string): boolean {
  return events.some(({ type, data }) => type === 'notice' && data.surface_sha256 === sha256)
}

const STAYS =
  'This Session continues with what it started with; /reload in a chat, or the next checkpoint, takes the newer over.'
