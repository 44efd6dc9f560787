import type { ResponseInputItem } from 'openai/resources/responses/responses'

type Items = readonly ResponseInputItem[]

/** The responses that a server can continue from. */
export interface ResponseMemory {
  /** All items up to the end of a response; `undefined` if the response is unknown or was forgotten. */
  itemsOf(id: string): Items | undefined
  keep(id: string, response: KeptResponse): void
}

export interface KeptResponse {
  /** The new items of its request, and its output. */
  readonly items: Items
  /** The response that it continues. */
  readonly previous?: string | undefined
  /** Whether the client allows it to be stored. */
  readonly store: boolean
}

interface StoredResponse {
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
 * Stored responses, available on every connection. The least recently used are dropped. A response needs all responses before
 * it: when one of them is dropped, those that continue it cannot be found.
 */
export class ResponseStore implements ResponseMemory {
  readonly #bounds: StoreBounds
  /** Least recently used first. */
  readonly #responses = new Map<string, StoredResponse>()
  #bytes = 0

  constructor(bounds: StoreBounds = BOUNDS) {
    this.#bounds = bounds
  }

  itemsOf(id: string): Items | undefined {
    const chain: [string, StoredResponse][] = []
    for (let at: string | undefined = id; at !== undefined;) {
      const stored = this.#responses.get(at)
      if (stored === undefined) return undefined
      chain.push([at, stored])
      at = stored.previous
    }
    for (const [name, stored] of chain) {
      this.#responses.delete(name)
      this.#responses.set(name, stored)
    }
    return chain.toReversed().flatMap(([, { items }]) => items)
  }

  keep(id: string, { items, previous, store }: KeptResponse): void {
    if (!store) return
    const bytes = bytesIn(items)
    this.#responses.set(id, { items, previous, bytes })
    this.#bytes += bytes
    for (const [oldest, stored] of this.#responses) {
      if (this.#responses.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) break
      this.#responses.delete(oldest)
      this.#bytes -= stored.bytes
    }
  }
}

/**
 * The store, plus the last response of one socket even if it is not stored. That response is forgotten when a request fails.
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
    // Earlier items that only this socket has are stored together with the response that continues them.
    this.#store.keep(id, isStored ? { items, previous, store } : { items: whole, store })
  }

  forget(): void {
    this.#last = undefined
  }
}

function bytesIn(items: Items): number {
  return Buffer.byteLength(JSON.stringify(items))
}
