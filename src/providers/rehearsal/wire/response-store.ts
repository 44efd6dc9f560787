import type { ResponseInputItem } from 'openai/resources/responses/responses'

type Items = readonly ResponseInputItem[]

/** What a server remembers of its responses. */
export interface ResponseMemory {
  /** All that was said up to the end of a response; `undefined` when it is not, or no longer, known. */
  itemsOf(id: string): Items | undefined
  keep(id: string, response: KeptResponse): void
}

export interface KeptResponse {
  /** What was new in its request, and its answer. */
  readonly items: Items
  /** The response that it goes on from. */
  readonly previous?: string | undefined
  /** Whether whoever asked lets it be stored. */
  readonly store: boolean
}

interface Stored {
  readonly items: Items
  readonly previous: string | undefined
  readonly bytes: number
}

export interface StoreBounds {
  readonly entries: number
  readonly bytes: number
}

const BOUNDS: StoreBounds = { entries: 1_000, bytes: 64 * 1024 * 1024 }

/**
 * Responses that were stored, for whoever asks on whatever connection. Those used last are kept. A response needs all those
 * before it: when one of them is forgotten, so is all that went on from it.
 */
export class ResponseStore implements ResponseMemory {
  readonly #bounds: StoreBounds
  /** The one used longest ago stands first. */
  readonly #stored = new Map<string, Stored>()
  #bytes = 0

  constructor(bounds: StoreBounds = BOUNDS) {
    this.#bounds = bounds
  }

  itemsOf(id: string): Items | undefined {
    const chain: [string, Stored][] = []
    for (let at: string | undefined = id; at !== undefined;) {
      const stored = this.#stored.get(at)
      if (stored === undefined) return undefined
      chain.push([at, stored])
      at = stored.previous
    }
    for (const [name, stored] of chain) {
      this.#stored.delete(name)
      this.#stored.set(name, stored)
    }
    return chain.toReversed().flatMap(([, { items }]) => items)
  }

  keep(id: string, { items, previous, store }: KeptResponse): void {
    if (!store) return
    const bytes = bytesIn(items)
    this.#stored.set(id, { items, previous, bytes })
    this.#bytes += bytes
    for (const [oldest, stored] of this.#stored) {
      if (this.#stored.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) break
      this.#stored.delete(oldest)
      this.#bytes -= stored.bytes
    }
  }
}

/**
 * As the store, and beside it the last response of one socket, stored or not. When a request fails that went on from it, it
 * is forgotten.
 */
export class SocketMemory implements ResponseMemory {
  readonly #store: ResponseStore
  readonly #most: number
  #last: { readonly id: string; readonly items: Items; readonly bytes: number } | undefined

  constructor(store: ResponseStore, bytes = BOUNDS.bytes) {
    this.#store = store
    this.#most = bytes
  }

  itemsOf(id: string): Items | undefined {
    return this.#last?.id === id ? this.#last.items : this.#store.itemsOf(id)
  }

  keep(id: string, { items, previous, store }: KeptResponse): void {
    const isStored = previous === undefined || this.#store.itemsOf(previous) !== undefined
    const whole = [...((previous !== undefined && this.itemsOf(previous)) || []), ...items]
    const before = this.#last?.id === previous ? (this.#last?.bytes ?? 0) : 0
    const bytes = before + bytesIn(before === 0 ? whole : items)
    this.#last = bytes > this.#most ? undefined : { id, items: whole, bytes }
    // What only this socket knew of is stored with what went on from it.
    this.#store.keep(id, isStored ? { items, previous, store } : { items: whole, store })
  }

  forget(): void {
    this.#last = undefined
  }
}

function bytesIn(items: Items): number {
  return Buffer.byteLength(JSON.stringify(items))
}
