import { closing } from '../../host/files/files.ts'
import { mentionsOf } from '../../log/lifecycle/families.ts'
import { ok, type Failed, type Result } from '../../model/errors.ts'
import type { SessionParts } from '../live/session-parts.ts'

/**
 * Deletes the snapshots that no Log of the workspace mentions any more, those of Instances included. Mentions are found in raw bytes, as
 * for blobs: if something cannot be read, nothing is deleted. Returns the number of bytes.
 */
export async function sweepSnapshots(
  { place, mentions }: SessionParts['log'],
  open: SessionParts['tools']['snapshots'],
  { olderThan, dryRun }: { readonly olderThan: number; readonly dryRun: boolean },
): Promise<Result<number>> {
  if (open === undefined || (await place.leases.beingWritten()).length > 0) return ok(0)
  const elsewhere = await mentions?.()
  if (elsewhere?.ok === false) return elsewhere
  const sources = [mentionsOf(place), ...(elsewhere?.value.sources ?? [])]
  let unread: Failed | undefined
  const sweep = async () => {
    const snapshots = await open()
    return snapshots.sweep({
      olderThan,
      now: place.clock.now(),
      dryRun,
      mentionsOf: async (ids) => {
        const found = new Set<string>()
        for (const source of sources)
          unread ??= await source.each((_name, bytes) => collectIds(bytes, ids, found))
        // Nothing is known to be unmentioned: something was not read, or was begun meanwhile.
        const isSure = unread === undefined && (await place.leases.beingWritten()).length === 0
        return isSure ? found : ids
      },
    })
  }
  const swept =
    elsewhere === undefined ? await sweep() : await closing(elsewhere.value, () => sweep())
  return unread ?? swept
}

const DIGITS = 64

async function collectIds(
  bytes: AsyncIterable<Buffer>,
  ids: ReadonlySet<string>,
  into: Set<string>,
): Promise<void> {
  let carry = ''
  for await (const piece of bytes) {
    const text = carry + piece.toString('latin1')
    for (const [run] of text.matchAll(/[0-9a-f]{64,}/g))
      for (let at = 0; at + DIGITS <= run.length; at++) {
        const id = run.slice(at, at + DIGITS)
        if (ids.has(id)) into.add(id)
      }
    // An id across two pieces is complete in the second.
    carry = text.slice(1 - DIGITS)
  }
}
