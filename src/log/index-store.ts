import type { SessionId } from '../model/ids.ts'

/** The state of a fold as text, and the line that it includes last. */
export interface IndexRecord {
  /** The version of the fold. */
  readonly fold: string
  readonly through_seq: number
  /** The offset after that line. */
  readonly through_offset: number
  readonly through_hash: string
  /** JSON. */
  readonly state: string
}

/**
 * The derived index of each Log. Losing it loses nothing, and a wrong one is never used: a record is what a writer of this
 * home stored for this Session, unchanged, or it is absent. It may be older than the last one that was stored.
 */
export interface IndexStore {
  /** `undefined` if there is none, or none that is authentic, whole and of a size that is worth reading. Never throws. */
  read(session: SessionId): Promise<IndexRecord | undefined>
  /** Replaces the record: after a crash, the old or the new one is there, or none. Throws a `FileFailure`. */
  write(session: SessionId, record: IndexRecord): Promise<void>
  /** Removes the record if there is one, durably. Throws a `FileFailure`. */
  remove(session: SessionId): Promise<void>
}
