import type { BlobStore } from '../../../src/blobs/store.ts'
import type { BlobKey } from '../../../src/model/ids.ts'
import type { CrashDisk } from '../../support/host/crash-disk.ts'

/** A new, empty store, and ways to corrupt it that no caller has. */
export interface StoreUnderTest {
  readonly store: BlobStore
  /** The same blobs as another process sees them. */
  readonly again: BlobStore
  /** Another store of the same kind that shares nothing with the first. */
  readonly other: BlobStore
  /** Stores bytes under a key that does not match them. */
  readonly corrupt: (key: BlobKey, bytes: Buffer) => Promise<void>
  /** What a store on a disk of the machine cannot do. */
  readonly ends?: StoreEnds
  /** Makes the blob look as if it had been put `ms` milliseconds earlier. */
  readonly age: (key: BlobKey, ms: number) => Promise<void>
  close(): Promise<void>
}

/** How a machine ends. */
export interface StoreEnds {
  readonly disk: CrashDisk
  /** The store as the next boot finds it. */
  after(seed: number): BlobStore
}

/** What only some stores have. */
export interface BlobTraits {
  /** Its power can be cut. */
  readonly ends?: true

  /** An interrupted put leaves something that is tidied. */
  readonly leaves?: true
  /** It can be filled with a blob of the largest size. */
  readonly large?: true
}

export interface BlobCase {
  readonly title: string
  readonly run: () => Promise<void>
}
