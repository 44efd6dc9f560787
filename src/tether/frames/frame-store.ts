import type { OpenRawSource } from '../../host/files/raw-source.ts'
import type { Failed, Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { FrameEntry, NamedEntry } from './frame-entry.ts'

/**
 * Where the frames of Instances are stored. An engine stores numbered frames and returns them as they are; what a frame
 * means, which number it gets and who waits for it is above this port and the same for every engine.
 *
 * Every method may be called at any time, also from several processes at once. An invalid id of an Instance is refused with
 * `invalid_args` before anything is accessed. A failure of the storage is `storage_failed`, or `permission_denied` and
 * `not_regular_file` where that is the reason; nothing is thrown but defects.
 */
export interface FrameStore {
  /**
   * Opens the frames of an Instance to append and to read, and creates them if there are none. One holder at a time, over all
   * processes: `storage_failed` while another one has them open. It reports what it has to `restore` before it returns.
   *
   * What was acknowledged is there, however the holder before ended. Of a batch that was not acknowledged, a part from its
   * beginning may be there; the rest is gone, and `repair` says what was cut off. What is there now survives a power cut.
   */
  open(instance: InstanceId, options: OpenFramesOptions): Promise<Result<OpenFrames>>
  /** The Instances that have frames, in no particular order. One that is deleted meanwhile may be among them or not. */
  list(): Promise<Result<readonly InstanceId[]>>
  /**
   * Every byte that is stored for an Instance, whatever is wrong with it, also while it is open elsewhere. `undefined` if there
   * are no frames. Everything that was acknowledged before the call is in it. Close it.
   */
  raw(instance: InstanceId): Promise<Result<OpenRawSource | undefined>>
  /**
   * Deletes the frames of an Instance whose id is never used again; none is not an error. Refused while they are open. A crash
   * may leave some of them, and the next call deletes the rest.
   */
  delete(instance: InstanceId): Promise<Result<void>>
}

export interface OpenFramesOptions {
  readonly retention: FrameRetention
  readonly restore: FrameRestore
  /** What must still be known of messages when their frames are deleted. Called within `append` only. */
  readonly messages: () => CarriedMessages
}

/** How much is kept. Old frames are deleted in steps, oldest first, and never beyond the newest step. */
export interface FrameRetention {
  /** The size of a step. */
  readonly fileBytes: number
  /** The most bytes of all frames. */
  readonly mostBytes: number
  /** Frames that were stored longer ago than this are deleted. */
  readonly mostAgeMs: number
}

/** Receives what a holder needs of earlier ones. */
export interface FrameRestore {
  /** First, once: every stored frame with a higher number follows, and lower ones can be read. */
  begin(after: number): void
  /** What was passed as `ended` with the newest step, at most once. */
  ended(messages: CarriedMessages['ended']): void
  /** A message that had not ended when the newest step began, in the order of numbers. */
  message(entry: NamedEntry): void
  /** A stored frame, in the order of numbers. */
  frame(entry: NamedEntry): void
}

export interface CarriedMessages {
  /** Messages without an end, in the order of their numbers. */
  readonly waiting: readonly NamedEntry[]
  /** A hash of the name of each message that has ended, and its number. */
  readonly ended: readonly (readonly [string, number])[]
}

/** Frames that become durable together. */
export interface FrameBatch {
  /** The lowest number that belongs to this batch; all numbers of later batches are higher than those of this one. */
  readonly first: number
  /** In the order of their numbers. May be empty if there is something to reserve. */
  readonly entries: readonly NamedEntry[]
  /** Numbers up to this one may be issued without being stored. It never decreases. */
  readonly reserveTo?: number | undefined
}

/** What was cut off when frames were opened: the remains of a batch that was not acknowledged. */
export interface FrameRepair {
  readonly cut_bytes: number
  /** A name under which the engine keeps them. */
  readonly kept_as: string
}

/** Returns false to stop. */
export type VisitFrame = (entry: FrameEntry) => boolean

/** How far a reading came. */
export interface FrameReading {
  /** Bytes that were read. */
  readonly bytes: number
  /** There is nothing more to visit. Otherwise the visitor stopped, or the budget was spent. */
  readonly complete: boolean
}

/** The frames of one Instance, as long as they are open. */
export interface OpenFrames {
  /** Numbers up to this one may have been issued by earlier holders. No stored frame has a higher one. */
  readonly lastReserved: number
  readonly repair: FrameRepair | undefined
  /** Why nothing can be appended. Readings then end at the last frame that was restored: those beyond it cannot be read. */
  readonly damage: Failed | undefined
  /** The lowest number that was not deleted. It never decreases. */
  readonly firstAvailable: number
  /**
   * Appends a batch, and resolves when it is durable: it survives a power cut, in order, and no reader sees it before. Not to
   * be called again before it has resolved.
   *
   * If it is refused, nothing of the batch is or becomes visible, and the next batch may succeed, unless the state of the
   * storage is unknown or another holder may have taken over: then this one refuses everything from now on.
   * A holder that closed, or lost the frames to another one, cannot append.
   */
  append(batch: FrameBatch): Promise<Result<void>>
  /**
   * Visits stored frames above `after` and up to `upTo`, in order. It reads about `budget` bytes, but visits at least one frame
   * if there is one. `log_damaged` where a frame is missing or changed; those before it were visited.
   * May run beside `append` and other readings, but not for numbers that are not acknowledged.
   */
  readAfter(
    after: number,
    upTo: number,
    budget: number,
    visit: VisitFrame,
  ): Promise<Result<FrameReading>>
  /** The same backwards, below `before`, newest first. What is deleted meanwhile ends it. */
  readBefore(before: number, budget: number, visit: VisitFrame): Promise<Result<FrameReading>>
  /** Lets another holder open them. Only after every `append` has resolved; may be called again. */
  close(): Promise<void>
}
