import type { Holder } from '../host/process/holder.ts'
import type { Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'

/**
 * Who writes: at most one holder for each Log, in all processes. Methods may be called at any time, also at once. Those that
 * return no `Result` throw a `FileFailure` and nothing else.
 */
export interface LeaseStore {
  /** Takes the lease of a Log, which need not exist; `session_busy` with the holder if another one has it. */
  take(session: SessionId): Promise<Result<Lease>>
  /**
   * The current writer as far as it left its name. Takes and changes nothing, so the result is only informative. Never throws.
   */
  writerOf(session: SessionId): Promise<Holder | undefined>
  /** The Sessions whose lease is held now, by any process. A process that takes one meanwhile is not disturbed. */
  beingWritten(): Promise<readonly SessionId[]>
  /**
   * Runs `work` while no other `work` on these Logs runs, in any process: creating a fork and removing a Log exclude each other.
   * Waits; apart from the leases, so no Turn is waited for. Throws a `FileFailure` if another one does not end.
   */
  alone<T>(work: () => Promise<T>): Promise<T>
}

/** Proves to a `LogStore` who writes. */
export interface Fence {
  /** Names this holding: no two holdings of one Log have the same. Compared for equality only. */
  readonly epoch: string
  /** Whether this is still the current holding, at the cost of no round trip. False from `release` on. May miss a loss. */
  mayHold(): boolean
  /** Whether this is still the current holding. */
  holds(): Promise<boolean>
}

/** The exclusive right to write one Log. Ends with `release` and with the process. */
export interface Lease extends Fence {
  /** The last holder, if it was killed before it released the lease. */
  readonly abandonedBy: Holder | undefined
  /** May be called again; only the first call counts. */
  release(): Promise<void>
  /** Releases the lease without clearing `abandonedBy`, so that the next holder can still record it. */
  giveBack(): Promise<void>
}
