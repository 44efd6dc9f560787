import { verifyLog, type LogVerdict } from '../../log/verify.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { SessionId } from '../../model/ids.ts'
import type { SessionParts } from '../live/session-parts.ts'
import type { CheckpointMismatch } from './verify-checkpoints.ts'
import type { RequestsVerdict } from './verify-requests.ts'

/** What a Session was verified to be. */
export interface Proof {
  readonly log: LogVerdict
  /** Checkpoints that differ from what their Events give. */
  readonly checkpoints?: readonly CheckpointMismatch[]
  readonly requests?: RequestsVerdict
}

/**
 * Verifies every byte of the Log; with `requests`, also composes every sent request again and compares it. For a damaged
 * Log, it compares only the requests before the damage, and none if a blob that they need cannot be read.
 */
export async function verifySession(
  parts: SessionParts,
  id: SessionId,
  requests: boolean,
): Promise<Result<Proof>> {
  const log = await verifyLog(parts.log.place, id)
  if (!log.ok) return log
  const { compactions } = log.value
  if (!requests && compactions === 0) return ok({ log: log.value })
  const { eventsWithin, verifyRequests } = await import('./verify-requests.ts')
  const { verifyCheckpoints } = await import('./verify-checkpoints.ts')
  const read = await eventsWithin(parts.log, id, log.value.bytes)
  if (!read.ok) return read
  const { events, offsets } = read.value
  const proof = { log: log.value, checkpoints: verifyCheckpoints(events, offsets) }
  if (!requests) return ok(proof)
  const verdict = await verifyRequests(parts, events)
  if (verdict.ok) return ok({ ...proof, requests: verdict.value })
  return log.value.damage === undefined ? verdict : ok(proof)
}
