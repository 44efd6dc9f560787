import type { BlobStore } from '../../blobs/store.ts'
import { ok } from '../../model/errors.ts'
import type { BlobKey } from '../../model/ids.ts'

/**
 * Holds just-stored bytes in memory for the request that shows them next, to avoid reading and hashing them again.
 * Returns each blob once.
 */
export class FreshBlobs {
  readonly #bytesByKey = new Map<string, Buffer>()

  /** `bytes` must be the content of `key`; they are not hashed again. */
  hold(key: BlobKey, bytes: Buffer): void {
    this.#bytesByKey.set(key, bytes)
  }

  /** Returns a store that looks here first. */
  over(store: BlobStore): BlobStore {
    return {
      ...store,
      get: async (key) => {
        const bytes = this.#bytesByKey.get(key)
        this.#bytesByKey.delete(key)
        return bytes === undefined ? store.get(key) : ok(bytes)
      },
    }
  }
}
