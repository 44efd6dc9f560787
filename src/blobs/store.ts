import type { Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'

/**
 * Content-addressed bytes. A key is the SHA-256 of the bytes and an extension, so a key never has two meanings, equal bytes
 * are stored once, and readers can verify what they read. Callers never build a path.
 *
 * Every method may be called at any time, also from several processes at once. An invalid key is refused with
 * `invalid_args` before anything is accessed. Errors of the stream that `put` reads propagate unchanged.
 */
export interface BlobStore {
  /**
   * Stores bytes and returns their key. When it returns, they survive a power cut, so an Event may name the key. Storing
   * the same bytes again returns the same key and renews the blob for the sweep. Damaged content under that key is
   * replaced. `unsupported_type` for an unknown media type, `too_large` above the size limit.
   */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    mediaType: string,
  ): Promise<Result<BlobKey>>
  /** All bytes, verified against the hash. Otherwise `resource_missing` with the cause `payload`; never other bytes. */
  get(key: string): Promise<Result<Buffer>>
  /** For large blobs: verified once, then read in pieces from the same open file. The caller must close it. */
  open(key: string): Promise<Result<OpenBlob>>
  /** Whether the blob exists, and since when; does not verify it. */
  stat(key: string): Promise<Result<BlobFacts>>
  /** All keys, in no particular order. */
  list(): Promise<Result<BlobKey[]>>
  /** Renews the blob for the sweep, without verifying it. Returns whether it exists. */
  renew(key: string): Promise<Result<boolean>>
  /** Deletes the blob; with `putAt`, only if it was not renewed since that time. Returns whether it is gone. */
  delete(key: string, putAt?: number): Promise<Result<boolean>>
  /** Removes temporary files that interrupted puts left before `olderThan`. Returns how many. */
  tidy(olderThan: number): Promise<Result<number>>
}

export interface BlobFacts {
  readonly size: number
  /** When it was stored or renewed; milliseconds since 1970. */
  readonly putAt: number
}

export interface OpenBlob {
  readonly size: number
  /** Bytes from `start` up to but excluding `end`. May be called repeatedly. */
  read(start?: number, end?: number): AsyncIterable<Buffer>
  close(): Promise<void>
}
