import type { Failed } from '../../model/errors.ts'

/**
 * A failed call. Output that was shown cannot be withdrawn, so a call that showed anything is not retried, except after
 * `websocket_critical_recovery`.
 */
export interface FailedCall extends Failed {
  readonly wasShown: boolean
  /** The number of bytes by which the request exceeds a known limit. */
  readonly excess?: number
}
