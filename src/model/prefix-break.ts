import * as z from 'zod'

/** Why a request does not begin with all of the one before. `unknown` is a bug: every other cause follows from Events alone. */
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

/** Why a request was sent whole although its socket was to carry only what is new. The Log keeps it as text. */
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
])
export type ResetReason = z.infer<typeof ResetReason>
