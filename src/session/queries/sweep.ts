import { sweepBlobs, type SweepOptions, type SweepResult } from '../../blobs/sweep.ts'
import { asResult, closing } from '../../host/files/files.ts'
import { mentionsOf, removeHidden } from '../../log/lifecycle/families.ts'
import { removeUnbegun } from '../../log/unbegun.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import { sweepSnapshots } from '../changes/sweep-snapshots.ts'
import type { OpenMentions, SessionParts } from '../live/session-parts.ts'

/** What `gc` deleted, or would delete with `dryRun`. */
export interface GcResult extends SweepResult {
  /** Logs that were created but never written. */
  readonly unbegun: number
  /** Deleted Sessions that no fork needs any more. */
  readonly deleted_sessions: number
  /** Bytes of snapshots of the workspace that no Session mentions any more. */
  readonly snapshot_bytes: number
  /** The same for the blobs of each Instance in the workspace, or why they were left alone. */
  readonly instances: readonly SweptInstance[]
}

export interface SweptInstance {
  readonly instance: InstanceId
  readonly result: Result<SweepResult>
}

/**
 * Deletes unreferenced blobs past the grace period, Logs whose creation was interrupted, and deleted Logs that no fork needs.
 * Each Instance has its own blobs and its own references: what is wrong with one concerns no other.
 */
export async function sweepWorkspace(
  { log: parts, tools }: Pick<SessionParts, 'log' | 'tools'>,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Result<GcResult>> {
  const { store, place, mentions } = parts
  const unbegun = await asResult('remove Logs that were never written', async () =>
    ok(await removeUnbegun(place, { dryRun })),
  )
  if (!unbegun.ok) return unbegun
  const hidden = await asResult('remove deleted Sessions', async () =>
    ok(await removeHidden(place, { dryRun })),
  )
  if (!hidden.ok) return hidden
  const olderThan = place.clock.now() - GRACE_MS
  const elsewhere = (await mentions?.()) ?? ok(NO_MENTIONS)
  if (!elsewhere.ok) return elsewhere
  const swept = await closing(elsewhere.value, ({ sources }) =>
    sweepBlobs(store, {
      mentions: [mentionsOf(place), ...sources],
      writing: () => place.leases.beingWritten(),
      olderThan,
      tidy: [place.logs, place.heads],
      dryRun,
    }),
  )
  if (!swept.ok) return swept
  const instances = await sweepInstances(parts, { olderThan, dryRun })
  if (!instances.ok) return instances
  const snapshots = await sweepSnapshots(parts, tools.snapshots, { olderThan, dryRun })
  if (!snapshots.ok) return snapshots
  return ok({
    ...swept.value,
    snapshot_bytes: snapshots.value,
    unbegun: unbegun.value,
    deleted_sessions: hidden.value,
    instances: instances.value,
  })
}

async function sweepInstances(
  { records }: SessionParts['log'],
  options: Pick<SweepOptions, 'olderThan' | 'dryRun'>,
): Promise<Result<readonly SweptInstance[]>> {
  const found = await records?.()
  if (found === undefined) return ok([])
  if (!found.ok) return found
  return closing(found.value, async ({ stores }) => {
    const all: SweptInstance[] = []
    for (const { instance, store } of stores) {
      if (!store.ok) {
        all.push({ instance, result: store })
        continue
      }
      const { blobs, ...sources } = store.value
      const result = await sweepBlobs(blobs, { ...sources, ...options })
      all.push({ instance, result })
    }
    return ok(all)
  })
}

/**
 * A blob may be stored this long before an Event names it. Measured by the wall clock, because a file has no other
 * timestamp: if the clock jumps, blobs are kept longer or must be attached again, but no Event names a deleted blob.
 */
const GRACE_MS = 60 * 60 * 1000

const NO_MENTIONS: OpenMentions = { sources: [], close: async () => {} }
