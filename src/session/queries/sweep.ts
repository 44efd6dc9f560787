import { sweepBlobs, type SweepResult } from '../../blobs/sweep.ts'
import { asResult, closing } from '../../host/files/files.ts'
import { sessionsBeingWritten } from '../../log/lease.ts'
import { removeUnbegun } from '../../log/unbegun.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { OpenMentions, SessionParts } from '../live/session-parts.ts'

/** What `gc` deleted, or would delete with `dryRun`. */
export interface GcResult extends SweepResult {
  /** Logs that were created but never written. */
  readonly unbegun: number
}

/** Deletes unreferenced blobs past the grace period, and Logs whose creation was interrupted. */
export async function sweepWorkspace(
  { store, place, mentions }: SessionParts['log'],
  { dryRun }: { readonly dryRun: boolean },
): Promise<Result<GcResult>> {
  const unbegun = await asResult('remove Logs that were never written', async () =>
    ok(await removeUnbegun(place, { dryRun })),
  )
  if (!unbegun.ok) return unbegun
  const olderThan = place.clock.now() - GRACE_MS
  const elsewhere = (await mentions?.()) ?? ok(NO_MENTIONS)
  if (!elsewhere.ok) return elsewhere
  const swept = await closing(elsewhere.value, ({ folders }) =>
    sweepBlobs(store, {
      mentions: [place.sessions, ...folders],
      writing: () => sessionsBeingWritten(place),
      olderThan,
      tidy: [place.sessions, place.heads],
      dryRun,
    }),
  )
  return swept.ok ? ok({ ...swept.value, unbegun: unbegun.value }) : swept
}

/**
 * A blob may be stored this long before an Event names it. Measured by the wall clock, because a file has no other
 * timestamp: if the clock jumps, blobs are kept longer or must be attached again, but no Event names a deleted blob.
 */
const GRACE_MS = 60 * 60 * 1000

const NO_MENTIONS: OpenMentions = { folders: [], close: async () => {} }
