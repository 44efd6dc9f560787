import * as z from 'zod'

/** Why a request does not start with the whole previous one. `unknown` is a bug: every other cause follows from Events alone. */
export const BreakCause = z.enum([
  'surface',
  'params',
  'model',
  'dialect',
  'checkpoint',
  'undo',
  'transient_retired',
  'quarantine',
  'drop',
  'payload_missing',
  'fork',
  'unknown',
])
export type BreakCause = z.infer<typeof BreakCause>

/** Why a request was sent whole although only new items should have been sent over its socket. The Log stores it as text. */
export const ResetReason = z.enum([
  'no_previous_response',
  'surface_changed',
  'params_changed',
  'model_changed',
  'dialect_changed',
  'compaction',
  'compaction_undone',
  'transient_retired',
  'resource_quarantined',
  'resource_dropped',
  'payload_missing',
  'forked',
  'prefix_mismatch',
  'previous_response_not_found',
  'reconnected',
  'fallback',
  'relayed',
])
export type ResetReason = z.infer<typeof ResetReason>
