import type { RawSource } from '../host/files/raw-source.ts'
import type { Result } from '../model/errors.ts'
import type { SessionId } from '../model/ids.ts'
import type { HeadRecord } from './head-record.ts'

/**
 * Who vouches: the last known end of each Log, where no command of a workspace can write. Only the holder of a lease writes
 * the head of its Log. Methods that return no `Result` throw a `FileFailure` and nothing else.
 */
export interface HeadStore {
  /** Where the heads are, for messages. */
  readonly label: string
  /** `undefined` if there is none: the Session is foreign. `log_damaged` if it cannot be parsed; never a wrong one. */
  read(session: SessionId): Promise<Result<HeadRecord | undefined>>
  /** Replaces the head. Durable when it returns; after a crash, the old or the new one is there, complete. */
  write(session: SessionId, head: HeadRecord): Promise<void>
  /** Removes the head if there is one; not durable before `settle`. */
  remove(session: SessionId): Promise<void>
  /** Makes removals durable. */
  settle(): Promise<void>
  /** The Sessions that have a head, in no particular order. */
  list(): Promise<readonly SessionId[]>
  /** Records that a Log was written just now. Only used to find the latest Session for a person: never throws. */
  noteWritten(session: SessionId): Promise<void>
  /** The rank of each Session in the order of those notes; the one written last has the highest. Never throws. */
  writtenOrder(): Promise<ReadonlyMap<SessionId, number>>
  /** Removes what interrupted writes left before `olderThan`. May throw a `FileFailure`. */
  tidy: RawSource['tidy']
}
