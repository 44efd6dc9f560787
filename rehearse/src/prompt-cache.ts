import { runningSha256, sha256 } from '../../src/encoding/hash.ts'
import type { Clock } from '../../src/host/clock.ts'

export interface CacheOptions {
  /**
   * How many requests per minute with the same key and the same beginning reach the same machine; more reach a cold one.
   * Vendors document 15. Default: no limit.
   */
  readonly perMinute?: number | undefined
  /** The maximum number of prefixes; the least recently used are dropped. */
  readonly entries?: number | undefined
}

/** A request as the cache sees it. */
export interface CacheRequest {
  /** Routes requests to the same machine. */
  readonly key: string
  readonly model: string
  /** In cache order; the same content has the same bytes. */
  readonly blocks: readonly Uint8Array[]
  /**
   * The numbers of blocks after which a prefix is stored and looked up; `every` means after each block, as a vendor does
   * without marks. Numbers outside the request are ignored.
   */
  readonly marks: readonly number[] | 'every'
}

/** In tokens, a token being four bytes. */
export interface CacheUse {
  /** The whole request. */
  readonly input: number
  readonly cached_read: number
  readonly cache_write: number
  /** Whether it reached a cold machine, because its key had too many requests. */
  readonly isOverflow: boolean
}

/**
 * The prompt cache of a vendor: exact prefixes of whole blocks, separate for each key and model. It keeps hashes only, and a
 * bounded number of them. The same requests at the same times give the same figures.
 */
export class PromptCache {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #entries: number
  readonly #rate: Rate | undefined
  /** The time of last use by the hash of a prefix, least recently used first. */
  readonly #lastUse = new Map<string, number>()

  constructor({
    clock,
    perMinute,
    entries = 100_000,
  }: CacheOptions & { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = clock
    this.#entries = entries
    this.#rate = perMinute === undefined ? undefined : new Rate(perMinute, entries)
  }

  /** The number of stored prefixes. */
  get size(): number {
    return this.#lastUse.size
  }

  /** Looks a request up, and stores it for the next one. */
  use(request: CacheRequest): CacheUse {
    const now = this.#clock.monotonicMs()
    const prefixes = prefixesOf(request)
    const input = prefixes.at(-1)?.tokens ?? 0
    const kept = markedOf(request).filter((place) => tokensAt(prefixes, place) >= LEAST_TOKENS)
    const isOverflow = this.#rate?.exceeds(machineOf(request), now) ?? false
    const found = isOverflow ? 0 : this.#storedBlocks(prefixes, request.marks, kept, now)
    // A request on a cold machine is stored there, where the next one does not look.
    if (!isOverflow) this.#keep([...(found === 0 ? [] : [found]), ...kept], prefixes, now)
    const read = tokensAt(prefixes, found)
    if (request.marks !== 'every') {
      const written = tokensAt(prefixes, kept.at(-1) ?? 0) - read
      return { input, cached_read: read, cache_write: written, isOverflow }
    }
    const steps = read - (read % STEP)
    const cached_read = steps < LEAST_TOKENS ? 0 : steps
    return { input, cached_read, cache_write: 0, isOverflow }
  }

  /** The number of blocks in the longest prefix that is still stored; 0 if there is none. */
  #storedBlocks(
    prefixes: readonly Prefix[],
    marks: CacheRequest['marks'],
    kept: readonly number[],
    now: number,
  ): number {
    const depth = marks === 'every' ? 1 : LOOKBACK
    for (const mark of kept.toReversed()) {
      for (let place = mark; place > 0 && place > mark - depth; place -= 1) {
        const used = this.#lastUse.get(prefixes[place - 1]?.hash ?? '')
        if (used !== undefined && now - used < KEPT_MS) return place
      }
    }
    return 0
  }

  #keep(places: readonly number[], prefixes: readonly Prefix[], now: number): void {
    for (const place of places) {
      const { hash } = prefixes[place - 1] ?? {}
      if (hash === undefined) continue
      this.#lastUse.delete(hash)
      this.#lastUse.set(hash, now)
    }
    for (const [hash, used] of this.#lastUse) {
      if (this.#lastUse.size <= this.#entries && now - used < KEPT_MS) break
      this.#lastUse.delete(hash)
    }
  }
}

const MINUTE_MS = 60_000
/** How long a prefix stays stored after its last use. */
const KEPT_MS = 5 * MINUTE_MS
/** A shorter prefix is never stored. */
const LEAST_TOKENS = 1024

/** Without marks, the tokens of a hit are rounded down to a multiple of this. */
const STEP = 128

/** How many blocks a lookup goes back from a mark, including the marked block. */
const LOOKBACK = 20

const BYTES_A_TOKEN = 4

/** A request up to the end of one block. */
interface Prefix {
  readonly hash: string
  readonly tokens: number
}

/** A hash covers all blocks up to its own, and the boundaries between them. */
function prefixesOf({ key, model, blocks }: CacheRequest): Prefix[] {
  let hash = sha256(JSON.stringify([key, model]))
  let bytes = 0
  return blocks.map((block) => {
    const running = runningSha256()
    running.update(Buffer.from(hash))
    running.update(block)
    hash = running.hex()
    bytes += block.length
    return { hash, tokens: Math.ceil(bytes / BYTES_A_TOKEN) }
  })
}

/** A vendor chooses a machine by the key and the first bytes of a request. */
function machineOf({ key, model, blocks }: CacheRequest): string {
  const running = runningSha256()
  running.update(Buffer.from(JSON.stringify([key, model])))
  let left = ROUTED_BYTES
  for (const block of blocks) {
    if (left <= 0) break
    running.update(block.subarray(0, left))
    left -= block.length
  }
  return running.hex()
}

const ROUTED_BYTES = 256 * BYTES_A_TOKEN

function tokensAt(prefixes: readonly Prefix[], place: number): number {
  return prefixes[place - 1]?.tokens ?? 0
}

/** Sorted and without duplicates. */
function markedOf({ blocks, marks }: CacheRequest): number[] {
  if (marks === 'every') return blocks.map((_, index) => index + 1)
  const within = marks.filter((mark) => mark >= 1 && mark <= blocks.length)
  return [...new Set(within)].toSorted((a, b) => a - b)
}

/** Decides which requests to a machine are within its rate. Requests over the rate do not count. */
class Rate {
  readonly #limit: number
  readonly #machines: number
  /** The times of requests in the last minute by machine, least recently used first. */
  readonly #came = new Map<string, readonly number[]>()

  constructor(limit: number, machines: number) {
    this.#limit = limit
    this.#machines = machines
  }

  exceeds(machine: string, now: number): boolean {
    const lately = (this.#came.get(machine) ?? []).filter((at) => now - at < MINUTE_MS)
    const exceeded = lately.length >= this.#limit
    this.#came.delete(machine)
    this.#came.set(machine, exceeded ? lately : [...lately, now])
    for (const [oldest, times] of this.#came) {
      const [last = 0] = times.slice(-1)
      if (this.#came.size <= this.#machines && now - last < MINUTE_MS) break
      this.#came.delete(oldest)
    }
    return exceeded
  }
}
