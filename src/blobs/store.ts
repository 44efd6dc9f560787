import type { Result } from '../model/errors.ts'
import type { BlobKey } from '../model/ids.ts'

/**
 * Bytes by their content. A key is the SHA-256 of the bytes and an extension, so a key never means two things, equal
 * bytes are kept once, and whoever reads can prove what was read. Callers never build a path.
 *
 * Every method may be called at any time, also from several processes at once. A key that is not one is refused as
 * `invalid_args` before anything is touched. What a stream that `put` reads from throws is passed on as it is.
 */
export interface BlobStore {
  /**
   * Keeps bytes and names them. When it returns, they survive a power cut, so an Event may name the key from then on. The
   * same bytes again: the same key, and the blob counts as new for the sweep. What stands damaged under that key is
   * replaced. An unknown media type is `unsupported_type`, more than a blob may hold `too_large`.
   */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    mediaType: string,
  ): Promise<Result<BlobKey>>
  /** All bytes, hashed again. `resource_missing` with the cause `payload` otherwise, never other bytes. */
  get(key: string): Promise<Result<Buffer>>
  /** For what should not be in memory: hashed once through, then read in pieces from the same open file. Close it. */
  open(key: string): Promise<Result<OpenBlob>>
  /** Without hashing: whether something stands there, and since when. */
  stat(key: string): Promise<Result<BlobFacts>>
  /** Every key, in no order. */
  list(): Promise<Result<BlobKey[]>>
  /** Counts the blob as put now, without hashing it. Answers whether it is there. */
  renew(key: string): Promise<Result<boolean>>
  /** Deletes the blob; with `putAt`, only if it was not put again since it had that time. Answers whether it is gone. */
  delete(key: string, putAt?: number): Promise<Result<boolean>>
  /** Removes what puts that never ended left behind before `olderThan`. Answers how much that was. */
  tidy(olderThan: number): Promise<Result<number>>
}

export interface BlobFacts {
  readonly size: number
  /** When it was put, or put again; milliseconds since 1970. */
  readonly putAt: number
}

export interface OpenBlob {
  readonly size: number
  /** Bytes from `start` to before `end`. May be called again. */
  read(start?: number, end?: number): AsyncIterable<Buffer>
  close(): Promise<void>
}
