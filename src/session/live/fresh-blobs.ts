import type { BlobStore } from '../../blobs/store.ts'
import { ok } from '../../model/errors.ts'
import type { BlobKey } from '../../model/ids.ts'

/**
 * Bytes that were stored a moment ago and are still in memory, for the request that is about to show them: reading and hashing
 * them again would take as long as all that was done with them before. Each is given once.
 */
export class FreshBlobs {
  readonly #held = new Map<string, Buffer>()

  /** `bytes` are those that the key names: whoever calls this has just put them. */
  hold(key: BlobKey, bytes: Buffer): void {
    this.#held.set(key, bytes)
  }

  /** The same store, which looks here first. */
  over(store: BlobStore): BlobStore {
    return {
      ...store,
      get: async (key) => {
        const bytes = this.#held.get(key)
        this.#held.delete(key)
        return bytes === undefined ? store.get(key) : ok(bytes)
      },
    }
  }
}
