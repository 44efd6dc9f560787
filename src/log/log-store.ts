import type { AppendFailure } from '../host/files/durable-file.ts'
import type { RawSource } from '../host/files/raw-source.ts'
import type { SessionId } from '../model/ids.ts'
import type { Fence } from './lease-store.ts'

/**
 * Where the bytes of Logs are. A Log grows by whole batches and is never changed before its end. What a line is, and whether
 * it is valid, is not known here.
 *
 * Every method may be called at any time, also from several processes at once. Methods throw a `FileFailure` and nothing
 * else. An id is a `SessionId`, so it is safe as a name.
 */
export interface LogStore extends RawSource {
  /** Creates an empty Log and opens it to write. Refused with EEXIST if there is one. Durable with its first append. */
  create(session: SessionId, fence: Fence): Promise<WritableLog>
  /** Opens a Log to read, without a lease and beside its writer; `undefined` if there is none. */
  open(session: SessionId): Promise<ReadableLog | undefined>
  /**
   * Opens a Log to write; `undefined` if there is none. Nothing is changed. A lease is needed from the first change on, so
   * that a Session without a Log leaves no trace of one.
   */
  openToWrite(session: SessionId): Promise<UnfencedLog | undefined>
  /**
   * Calls `changed` after each change of the Log; several changes may cause one call. `undefined` if changes cannot be
   * reported: then the caller looks again at intervals.
   */
  watch(session: SessionId, changed: () => void): Promise<{ close(): void } | undefined>
  /** The Sessions that have a Log, in no particular order. One that is deleted meanwhile may be missing or not. */
  list(): Promise<readonly SessionId[]>
  /** Deletes a Log durably, then the pieces that repairs cut from it. Returns false if there was none. */
  delete(session: SessionId, fence: Fence): Promise<boolean>
}

/** The bytes of one Log. An open Log can be read to its end, also after it was deleted. */
export interface ReadableLog {
  /** The size shrinks only when a writer removes what it never acknowledged. */
  stat(): Promise<LogFacts>
  /** Reads into `into` from `position`; returns the number of bytes, 0 at the end. May return fewer than requested. */
  read(into: Uint8Array, position: number): Promise<number>
  /** Makes durable what can be read now, beside its writer. For a reader that records how far the Log goes. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface LogFacts {
  readonly size: number
  /** 0 when the Log was deleted while open. */
  readonly links: number
}

export interface UnfencedLog extends ReadableLog {
  /** The same Log, to be changed under a lease. Closing either closes both. */
  under(fence: Fence): WritableLog
}

/**
 * One Log, open to write. Everything that changes it is refused once its lease was released or lost, whatever the caller
 * still holds.
 */
export interface WritableLog extends ReadableLog {
  /**
   * Appends a batch at `at`, where the caller knows the Log to end. Without a failure, all of it is durable there, and so is
   * the Log's name. Otherwise none of it is acknowledged: it was rolled back, or the failure says that the writer must
   * `stop`, because the Log ends elsewhere, the lease is lost, or its state is unknown. One call at a time.
   */
  append(bytes: Buffer, at: number): Promise<AppendFailure | undefined>
  /**
   * Makes durable what `work` reads of the Log from `from` on, also what a killed writer left and what a failed sync may have
   * lost. The bytes stay. `work` passes on all bytes that it reads, so that they are not read twice.
   */
  settle<T>(from: number, work: (visit: VisitBytes) => Promise<T>): Promise<T>
  /** Cuts the Log at `offset`; `bytes`, which were there, are durable as a piece at the line `seq` before that. */
  cut(offset: number, piece: { readonly seq: number; readonly bytes: Buffer }): Promise<void>
  /** The pieces that were cut before the line `seq`, the oldest first. */
  pieces(seq: number): Promise<readonly LogPiece[]>
}

/** Takes bytes of a Log and their position; they are valid until the promise resolves. */
export type VisitBytes = (bytes: Buffer, position: number) => Promise<void>

/** A piece that was cut off before a line. */
export interface LogPiece {
  /** What an Event names it by. */
  readonly name: string
  readonly size: number
}
