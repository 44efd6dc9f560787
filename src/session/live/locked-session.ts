import type { Commit } from '../../turn/parts/pending-results.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { AskModel } from './model-summary.ts'

/** What the holder of the lock can do between two Turns. */
export interface LockedSession {
  /** Appends Events that belong to no Turn. */
  readonly record: Commit
  readonly ask: AskModel
  /** Shows an ephemeral event that belongs to no Turn. */
  readonly publish: TurnParts['log']['publish']
  /** Aborts when the person interrupts what runs. */
  readonly signal: AbortSignal
}
