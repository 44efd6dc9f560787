import type { RecordsPlace } from '../../host/files/records.ts'
import type { HeadStore } from '../../log/head-store.ts'
import type { LogStore } from '../../log/log-store.ts'
import type { Result } from '../../model/errors.ts'
import type { BlobKey, InstanceId } from '../../model/ids.ts'
import type { ImageReference } from '../../model/tether/frame.ts'

/**
 * The records of Instances: their Logs and blobs in workspaces, which guests can write to as they like, and the server's heads of
 * these Logs, which they cannot. Whatever a guest puts there, nothing outside of its records is read or written.
 *
 * Every method may be called at any time. Those that return no `Result` throw a `FileFailure` and nothing else.
 */
export interface GuestRecords {
  /**
   * Creates the records of an Instance in a workspace if they are missing, from what an earlier version left among the person's.
   * They may not be created in any other way, and not by two calls at once. `open` creates nothing in a workspace that was never
   * used.
   */
  prepare(
    place: InstancePlace,
    options: PrepareOptions,
    mode: 'open' | 'create',
  ): Promise<Result<RecordsPlace>>
  /** Runs `work` with the Logs of a guest. `undefined` if it has no records. */
  inLogs<T>(place: RecordsPlace, work: (logs: GuestLogStore) => Promise<T>): Promise<T | undefined>
  /** Opens the server's heads of the Logs of an Instance in the workspace at this path, and creates them if they are missing. */
  heads(instance: string, workspace: string): Promise<Result<GuestHeads>>
  /** Stores a blob for a guest: as `BlobStore.put`. */
  storeBlob(place: RecordsPlace, bytes: Buffer, mediaType: string): Promise<Result<BlobKey>>
  /**
   * The bytes of an image that a guest names, read from its records now. Size, hash and magic bytes agree with the reference;
   * `resource_missing` with the cause `payload` otherwise, and `invalid_args` for an invalid reference.
   */
  readBlob(place: RecordsPlace, named: unknown): Promise<Result<Buffer>>
  /** The size of what is in the place of a blob, which proves nothing. `undefined` if nothing is. */
  blobSize(place: RecordsPlace, blob: ImageReference['blob']): Promise<Result<number | undefined>>
}

export interface InstancePlace extends RecordsPlace {
  readonly instance: InstanceId
}

export interface PrepareOptions {
  /** The workspace is a folder of the person, so they may look for it. */
  readonly isMapped: boolean
}

/** Logs to read: the guest may be writing them, and no lease is taken. */
export type GuestLogStore = Pick<LogStore, 'list' | 'open'>

/** Heads that are used for a while. */
export interface GuestHeads extends HeadStore {
  close(): Promise<void>
}
