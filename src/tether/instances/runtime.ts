import type { Folder } from '../../host/files/files.ts'
import type { HawserError, Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { FrameToGuest, FrameToHost } from '../../model/tether/frame.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'
import type { MessageBook } from '../server/message-book.ts'
import type { SpendFile } from './spend-file.ts'

/** What runs the guests of Instances: a sandboxed process, and later perhaps a container or a virtual machine. */
export interface InstanceRuntime {
  /**
   * Starts a guest, resolves when it is ready, and delivers every message in `book` that has not ended. A failure of the
   * kinds in `CRASH_KINDS` may pass; any other lasts until a person changes something.
   */
  start(order: GuestOrder): Promise<Result<RunningGuest>>
}

/** A guest to start. */
export interface GuestOrder {
  readonly record: InstanceRecord
  /**
   * The real path of the folder that it works in, with its records (see `GuestRecords.prepare`), and which folder that is: no other may
   * be used.
   */
  readonly workspace: string
  readonly identity: FolderIdentity
  /** It may exchange images. */
  readonly images: boolean
  /** The folder of the Instance, and its path. */
  readonly folder: Folder
  readonly path: string
  readonly spend: SpendFile
  readonly book: MessageBook
  /**
   * Receives each frame of the guest once, in order; the next one is passed on when it resolves. If it rejects, the frame was not
   * stored: the guest must be stopped, and nothing more of it is used.
   */
  readonly onFrame: (frame: FrameToHost) => Promise<void>
  /** For the log of the server: never contains texts of messages. */
  readonly note: (entry: Readonly<Record<string, unknown>>) => void
}

export interface RunningGuest {
  /** Sends a frame, also to a paused guest. Fails if the guest has ended or is ending: the frame is then lost. */
  send(frame: FrameToGuest): Result<void>
  /** Stops it until `resume`, at no cost. Any failure means that it cannot be paused: it should be stopped instead. */
  pause(): Promise<Result<void>>
  /** Fails if it has ended. */
  resume(): Promise<Result<unknown>>
  /** Ends it: messages that are running end as interrupted, if it can do that in time. May be called more than once. */
  stop(graceMs?: number): Promise<unknown>
  /** Resolves when nothing of it is left and its last frame was passed on. Never rejects. */
  readonly ended: Promise<{ readonly reason?: HawserError }>
}

/**
 * A guest that ended by one of these may work when it is started again. One that broke the rules of frames (`invalid_response`)
 * is not among them: it would do so again, so its messages end at once, with the reason.
 */
export const CRASH_KINDS: ReadonlySet<HawserError['kind']> = new Set([
  'wake_failed',
  'backpressure',
  'timeout',
  'storage_failed',
  'internal',
])
