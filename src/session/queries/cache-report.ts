import { namedProvider } from '../../history/provider-name.ts'
import type { EventData, EventType, WholeEvent } from '../../model/events/event.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import { cacheFinding, type CacheFinding } from './cache-finding.ts'

/** One request to a provider, how much of it was cached, and why not more. */
export interface ExplainedRequest {
  /** Number of the Event that recorded it. */
  readonly seq: number
  /** Number of the Turn in the Session, from 1; 0 outside any Turn. */
  readonly turn: number
  readonly call_index: number
  readonly attempt: number
  readonly model: string
  readonly dialect: RecordedRequest['dialect']
  readonly contract_version: string
  readonly transport: string
  readonly request_bytes: number
  /** Fewer than the request has if its provider knew the rest. */
  readonly sent_bytes: number
  readonly shared_prefix_bytes: number
  /** Shared bytes divided by all bytes, from 0 to 1. */
  readonly shared_ratio: number
  /** Shared bytes divided by those of the request it is compared with; 1 if it extends that one. Absent for the first. */
  readonly kept_ratio?: number
  /** Milliseconds since the end of the last answered call to the same model; absent if there is none. */
  readonly idle_ms?: number
  readonly prefix_break?: NonNullable<RecordedRequest['prefix_break']>
  /** Absent if the answer was not completed. */
  readonly usage?: CachedTokens
  readonly continuation?: NonNullable<EventData<'provider_usage'>['continuation']>
  readonly finding?: CacheFinding
}

type RecordedRequest = EventData<'provider_request'>

export interface CachedTokens {
  readonly input: number
  readonly cached_read: number
  readonly cache_write: number
  /** Cached tokens divided by all prompt tokens, from 0 to 1. */
  readonly cached_ratio: number
}

/** Totals of all requests of a Session. */
export interface CacheSummary {
  readonly requests: number
  /** Requests whose answers were completed. */
  readonly answered: number
  /** Tokens of the answered requests after the first one, which fills the cache. */
  readonly after_first: CachedTokens
  readonly request_bytes: number
  readonly sent_bytes: number
  readonly continued: number
  /** Number of prefix breaks by cause. */
  readonly breaks: Readonly<Record<string, number>>
  /** Number of findings by kind. */
  readonly findings: Readonly<Record<string, number>>
}

/** Event types that concern the cache; `take` ignores others. */
export const CACHE_EVENTS: readonly EventType[] = [
  'session_started',
  'session_settings',
  'turn_started',
  'provider_request',
  'provider_usage',
]

/**
 * Explains the requests of a Log while it is read in order. Holds only the last request to each model and totals,
 * however long the Log is. A request is returned once its outcome is known: at its usage, at the next request, or at the
 * end.
 */
export class CacheReport {
  #turns = 0
  #provider = ''
  /** The request that is not yet returned. */
  #open: OpenRequest | undefined
  /** The last request to each model with a completed answer: a provider may not have cached any other. */
  readonly #lastAnswered = new Map<string, KnownRequest>()
  /** The size of the last request to each model, and of the last one to any model. */
  readonly #lastBytes = new Map<string, number>()
  #lastSent: number | undefined
  #requests = 0
  #answeredCount = 0
  #afterFirst: Omit<CachedTokens, 'cached_ratio'> = NO_TOKENS
  #requestBytes = 0
  #sentBytes = 0
  #continuedCount = 0
  readonly #breaks = new Map<string, number>()
  readonly #findings = new Map<string, number>()
  #key = ''
  /** When the latest requests with that key were sent, within a minute. */
  #lately: readonly number[] = []

  take(event: WholeEvent): ExplainedRequest | undefined {
    this.#provider = namedProvider(event) ?? this.#provider
    if (event.type === 'turn_started') this.#turns += 1
    if (event.type === 'provider_usage') {
      return this.#isOpen(event) ? this.#close(event) : undefined
    }
    if (event.type !== 'provider_request') return undefined
    const ended = this.end()
    this.#begin(event)
    return ended
  }

  /** The last request, if it is not yet returned. */
  end(): ExplainedRequest | undefined {
    return this.#open === undefined ? undefined : this.#close(undefined)
  }

  get summary(): CacheSummary {
    return {
      requests: this.#requests,
      answered: this.#answeredCount,
      after_first: withRatio(this.#afterFirst),
      request_bytes: this.#requestBytes,
      sent_bytes: this.#sentBytes,
      continued: this.#continuedCount,
      breaks: Object.fromEntries(this.#breaks),
      findings: Object.fromEntries(this.#findings),
    }
  }

  #begin({ seq, ts, turn_id, data }: WholeEvent<'provider_request'>): void {
    const at = Date.parse(ts)
    const lately = this.#key === data.cache_key ? this.#lately : []
    this.#lately = [...lately.filter((time) => at - time < MINUTE_MS), at].slice(-MOST_LATELY)
    this.#key = data.cache_key
    const keeper = JSON.stringify([this.#provider, data.dialect, data.model])
    const known = this.#lastAnswered.get(keeper)
    if (known !== undefined) {
      // The first and last of three consecutive requests share at least the prefix that all three share.
      const bytes = Math.min(known.bytes, data.shared_prefix_bytes)
      this.#lastAnswered.set(keeper, { ...known, bytes })
    }
    const comparedBytes = this.#lastBytes.get(keeper) ?? this.#lastSent
    const turn = turn_id === undefined ? 0 : this.#turns
    this.#open = { seq, at, turn_id, turn, keeper, comparedBytes, data }
    this.#lastBytes.set(keeper, data.request_bytes)
    this.#lastSent = data.request_bytes
  }

  /** Attempts of one call have the same number; the usage belongs to the last one. */
  #isOpen({ turn_id, data: { call_index } }: WholeEvent<'provider_usage'>): boolean {
    const open = this.#open
    return open !== undefined && open.turn_id === turn_id && open.data.call_index === call_index
  }

  #close(usage: WholeEvent<'provider_usage'> | undefined): ExplainedRequest | undefined {
    const open = this.#open
    if (open === undefined) return undefined
    this.#open = undefined
    const known = this.#lastAnswered.get(open.keeper)
    const explained = explain(open, known, usage?.data, this.#lately.length)
    if (usage !== undefined) {
      const { cache_key } = open.data
      this.#lastAnswered.set(open.keeper, { cache_key, at: Date.parse(usage.ts), bytes: Infinity })
    }
    this.#count(explained)
    return explained
  }

  #count({ usage, finding, prefix_break, ...request }: ExplainedRequest): void {
    this.#requests += 1
    this.#requestBytes += request.request_bytes
    this.#sentBytes += request.sent_bytes
    if (request.continuation?.used === true) this.#continuedCount += 1
    if (prefix_break !== undefined) increase(this.#breaks, prefix_break.cause)
    if (finding !== undefined) increase(this.#findings, finding)
    if (usage === undefined) return
    if (this.#answeredCount > 0) this.#afterFirst = sumOf(this.#afterFirst, usage)
    this.#answeredCount += 1
  }
}

const MINUTE_MS = 60_000

/** Enough to exceed the limit of any cache. */
const MOST_LATELY = 100

const NO_TOKENS = { input: 0, cached_read: 0, cache_write: 0 }

interface OpenRequest {
  readonly seq: number
  readonly at: number
  readonly turn_id: string | undefined
  readonly turn: number
  /** Who keeps its cache: provider, dialect and model. */
  readonly keeper: string
  /** Bytes of the request it is compared with. */
  readonly comparedBytes: number | undefined
  readonly data: RecordedRequest
}

interface KnownRequest {
  readonly cache_key: string
  /** When its answer ended. */
  readonly at: number
  /** The number of bytes that the requests since then have in common with it, at least. */
  readonly bytes: number
}

function explain(
  { seq, at, turn, comparedBytes, data }: OpenRequest,
  before: KnownRequest | undefined,
  used: EventData<'provider_usage'> | undefined,
  lately: number,
): ExplainedRequest {
  const { request_bytes, shared_prefix_bytes, prefix_break } = data
  const tokens = used === undefined ? undefined : withRatio(used.usage)
  const request = {
    seq,
    turn,
    call_index: data.call_index,
    attempt: data.attempt,
    model: data.model,
    dialect: data.dialect,
    contract_version: data.contract_version,
    transport: data.transport,
    request_bytes,
    sent_bytes: data.sent_bytes ?? request_bytes,
    shared_prefix_bytes,
    shared_ratio: ratio(shared_prefix_bytes, request_bytes),
    ...(comparedBytes === undefined ? {} : { kept_ratio: keptRatio(data, comparedBytes) }),
    ...(before === undefined ? {} : { idle_ms: Math.max(0, at - before.at) }),
    ...definedFields({ prefix_break, usage: tokens, continuation: used?.continuation }),
  }
  const finding = cacheFinding(request, {
    knownShare: ratio(Math.min(before?.bytes ?? 0, request_bytes), request_bytes),
    sameKey: before?.cache_key === data.cache_key,
    lately,
    projects: (data.projected ?? []).length > 0,
  })
  return finding === undefined ? request : { ...request, finding }
}

/** Without a break everything was kept, even if the version that wrote the Log did not count brackets as shared bytes. */
function keptRatio(
  { prefix_break, shared_prefix_bytes }: RecordedRequest,
  compared: number,
): number {
  return prefix_break === undefined ? 1 : ratio(Math.min(shared_prefix_bytes, compared), compared)
}

function withRatio({ input, cached_read, cache_write }: typeof NO_TOKENS): CachedTokens {
  return { input, cached_read, cache_write, cached_ratio: ratio(cached_read, input) }
}

/** Rounded to four digits, for display and comparison. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1e4) / 1e4
}

function sumOf(a: typeof NO_TOKENS, b: typeof NO_TOKENS): typeof NO_TOKENS {
  return {
    input: a.input + b.input,
    cached_read: a.cached_read + b.cached_read,
    cache_write: a.cache_write + b.cache_write,
  }
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
