import { runningSha256, sha256 } from '../../../encoding/hash.ts'
import type { Clock } from '../../../host/clock.ts'

export interface CacheOptions {
  /**
   * So many requests of one key that begin alike find their machine within a minute, the others a cold one; vendors name 15.
   * Without it there is no such limit.
   */
  readonly perMinute?: number | undefined
  /** So many prefixes are kept at most, those used last. */
  readonly entries?: number | undefined
}

/** A request as a cache sees it. */
export interface CacheRequest {
  /** What requests are sent to the same machine by. */
  readonly key: string
  readonly model: string
  /** In cache order; the same content has the same bytes. */
  readonly blocks: readonly Uint8Array[]
  /**
   * After how many blocks a prefix is kept and looked for; `every` means after each, by the vendor's own decision. Places
   * that the request does not have are passed over.
   */
  readonly marks: readonly number[] | 'every'
}

/** In tokens, a token being four bytes. */
export interface CacheUse {
  /** All of the request. */
  readonly input: number
  readonly cached_read: number
  readonly cache_write: number
  /** It came to a cold machine, because too many came with its key. */
  readonly overflowed: boolean
}

/**
 * The prompt cache of a vendor: exact prefixes of whole blocks, for each key and model apart. It keeps hashes only, and a
 * bounded number of them. The same requests at the same times get the same figures.
 */
export class PromptCache {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #entries: number
  readonly #rate: Rate | undefined
  /** When a prefix was used last, by its hash; the one used longest ago stands first. */
  readonly #used = new Map<string, number>()

  constructor({
    clock,
    perMinute,
    entries = 100_000,
  }: CacheOptions & { readonly clock: Pick<Clock, 'monotonicMs'> }) {
    this.#clock = clock
    this.#entries = entries
    this.#rate = perMinute === undefined ? undefined : new Rate(perMinute, entries)
  }

  /** How many prefixes are kept. */
  get size(): number {
    return this.#used.size
  }

  /** What a request finds, and keeps it for the next one. */
  use(request: CacheRequest): CacheUse {
    const now = this.#clock.monotonicMs()
    const prefixes = prefixesOf(request)
    const input = prefixes.at(-1)?.tokens ?? 0
    const kept = markedOf(request).filter((place) => tokensAt(prefixes, place) >= LEAST_TOKENS)
    const overflowed = this.#rate?.exceeded(machineOf(request), now) ?? false
    const found = overflowed ? 0 : this.#found(prefixes, request.marks, kept, now)
    // What came to a cold machine is kept there, and not where the next one will look.
    if (!overflowed) this.#keep([...(found === 0 ? [] : [found]), ...kept], prefixes, now)
    const read = tokensAt(prefixes, found)
    if (request.marks !== 'every') {
      const written = tokensAt(prefixes, kept.at(-1) ?? 0) - read
      return { input, cached_read: read, cache_write: written, overflowed }
    }
    const steps = read - (read % STEP)
    const cached_read = steps < LEAST_TOKENS ? 0 : steps
    return { input, cached_read, cache_write: 0, overflowed }
  }

  /** After how many blocks the longest prefix ends that is kept still; 0 when none is. */
  #found(
    prefixes: readonly Prefix[],
    marks: CacheRequest['marks'],
    kept: readonly number[],
    now: number,
  ): number {
    const depth = marks === 'every' ? 1 : LOOKBACK
    for (const mark of kept.toReversed()) {
      for (let place = mark; place > 0 && place > mark - depth; place -= 1) {
        const used = this.#used.get(prefixes[place - 1]?.hash ?? '')
        if (used !== undefined && now - used < KEPT_MS) return place
      }
    }
    return 0
  }

  #keep(places: readonly number[], prefixes: readonly Prefix[], now: number): void {
    for (const place of places) {
      const { hash } = prefixes[place - 1] ?? {}
      if (hash === undefined) continue
      this.#used.delete(hash)
      this.#used.set(hash, now)
    }
    for (const [hash, used] of this.#used) {
      if (this.#used.size <= this.#entries && now - used < KEPT_MS) break
      this.#used.delete(hash)
    }
  }
}

const MINUTE_MS = 60_000
/** How long a prefix is kept after its last use. */
const KEPT_MS = 5 * MINUTE_MS
/** A shorter prefix is never kept. */
const LEAST_TOKENS = 1024

/** Where no marks are, a hit is told in steps of so many tokens. */
const STEP = 128

/** At so many places a mark is looked behind, its own included. */
const LOOKBACK = 20

const BYTES_A_TOKEN = 4

/** The request up to the end of one block. */
interface Prefix {
  readonly hash: string
  readonly tokens: number
}

/** A hash names all blocks up to its own, and where one ends and the next begins. */
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

/** A vendor chooses a machine by the key and by how a request begins. */
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

/** In order, each once. */
function markedOf({ blocks, marks }: CacheRequest): number[] {
  if (marks === 'every') return blocks.map((_, index) => index + 1)
  const within = marks.filter((mark) => mark >= 1 && mark <= blocks.length)
  return [...new Set(within)].toSorted((a, b) => a - b)
}

/** Which requests to a machine are within its rate. Those that are not do not count against it. */
class Rate {
  readonly #limit: number
  readonly #machines: number
  /** When requests of the last minute came, by machine; the one asked longest ago stands first. */
  readonly #came = new Map<string, readonly number[]>()

  constructor(limit: number, machines: number) {
    this.#limit = limit
    this.#machines = machines
  }

  exceeded(machine: string, now: number): boolean {
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
