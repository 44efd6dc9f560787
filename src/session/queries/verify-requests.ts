import { namedProvider } from '../../history/provider-name.ts'
import { thawSurface, wordsHash } from '../../prompt/surface.ts'
import { closing } from '../../host/files/files.ts'
import type { LogLine } from '../../log/line.ts'
import { openReader } from '../../log/reader.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'
import { RequestComposer, type ComposedRequest } from '../../request/compose-request.ts'
import { asSent, sharedWith, type SentRequest } from '../../request/sent-request.ts'
import { LiveHistory } from '../../request/live-history.ts'
import type { SessionParts } from '../live/session-parts.ts'

/** A recorded request that differs from the one composed from the Log. */
export interface Mismatch {
  readonly seq: number
  readonly what:
    | 'request_sha256'
    | 'request_bytes'
    | 'shared_prefix_bytes'
    | 'prefix_break'
    | 'payload'
  readonly recorded: unknown
  readonly recomposed: unknown
}

/** Prompt texts of another version, and the number of requests that were written with them. */
export interface OtherWords {
  readonly contract_version: string
  /** Absent if that version did not record it. */
  readonly words_sha256?: string | undefined
  readonly requests: number
}

export interface RequestsVerdict {
  /** Requests that were composed again and compared. */
  readonly requests: number
  /** Requests that were written with prompt texts of another version, so that their bytes cannot be compared. */
  readonly not_comparable: number
  /** The prompt texts of those, in the order of their first request; absent without any. */
  readonly other_words?: readonly OtherWords[]
  readonly mismatches: readonly Mismatch[]
}

/** The Events of the first `bytes` of a Log, and the positions of their lines by number. */
export async function eventsWithin(
  { place, store }: SessionParts['log'],
  session: SessionId,
  bytes: number,
): Promise<Result<ReadSession>> {
  const reader = await openReader(place, session)
  if (!reader.ok) return reader
  const lines: LogLine[] = []
  const end = await closing(reader.value, (opened) =>
    opened.forward((line) => (line.next.offset > bytes ? false : void lines.push(line))),
  )
  if (!end.ok) return end
  const history = new LiveHistory(store)
  await history.add(lines)
  return ok({
    events: history.events,
    offsets: new Map(lines.map(({ seq, offset }) => [seq, offset])),
  })
}

export interface ReadSession {
  readonly events: readonly WholeEvent[]
  readonly offsets: ReadonlyMap<number, number>
}

/**
 * Composes every sent request again from the Events before it and compares it with the recorded one. A request with
 * prompt texts of another version is only counted.
 */
export async function verifyRequests(
  { log: { store }, model }: Pick<SessionParts, 'log' | 'model'>,
  events: readonly WholeEvent[],
): Promise<Result<RequestsVerdict>> {
  const mismatches: Mismatch[] = []
  let requests = 0
  const others = new WordsCount()
  let contract = ''
  let surface: Surface | undefined
  let words: string | undefined
  const ours = wordsHash(model.contract)
  let provider: string | undefined
  /** The last request to each model, and the last one to any model. */
  const sent = new Map<string, LastSent>()
  let latest: LastSent | undefined
  let composer: { readonly turn: string; readonly of: RequestComposer } | undefined
  for (const [at, event] of events.entries()) {
    provider = namedProvider(event) ?? provider
    if (event.type === 'prompt_surface') {
      const blob = await store.get(event.data.blob)
      if (!blob.ok) return blob
      surface = thawSurface(blob.value)
      words = event.data.words_sha256
      contract = event.data.contract_version
      composer = undefined
    }
    if (event.type !== 'provider_request') continue
    if (surface === undefined) return failed('log_damaged', 'A request came before any surface.')
    const dialect = await model.dialectOf(event.data.dialect)
    if (!dialect.ok) return dialect
    const turn = event.turn_id
    if (composer === undefined || composer.turn !== turn) {
      const cacheKey = event.data.cache_key
      const parts = { provider: dialect.value, providerName: provider, surface, words, store }
      const made = { ...parts, cacheKey }
      composer = { turn: turn ?? '', of: new RequestComposer(made, turn) }
    }
    const call = `${turn} ${event.data.call_index}`
    const keeper = JSON.stringify([provider, event.data.dialect, event.data.model])
    const last = sent.get(keeper) ?? latest
    const before = last?.call === call ? last.before : last?.request
    const request = await composer.of.compose(events.slice(0, at), {
      before,
      recordedProjections: event.data.projected,
    })
    if (words === ours) {
      mismatches.push(...compare(event, request, last?.request))
      requests += 1
    } else others.add(contract, words)
    latest = { call, request: asSent(request), before }
    sent.set(keeper, latest)
  }
  return ok({ requests, ...others.counts(), mismatches })
}

/** Counts requests by the prompt texts that they were written with. */
class WordsCount {
  readonly #counts = new Map<string, OtherWords>()

  add(contract_version: string, words_sha256: string | undefined): void {
    const key = JSON.stringify([contract_version, words_sha256])
    const requests = (this.#counts.get(key)?.requests ?? 0) + 1
    const hash = words_sha256 === undefined ? {} : { words_sha256 }
    this.#counts.set(key, { contract_version, ...hash, requests })
  }

  counts(): Pick<RequestsVerdict, 'not_comparable' | 'other_words'> {
    const other_words = [...this.#counts.values()]
    const not_comparable = other_words.reduce((sum, { requests }) => sum + requests, 0)
    return { not_comparable, ...(not_comparable === 0 ? {} : { other_words }) }
  }
}

interface LastSent {
  readonly call: string
  readonly request: SentRequest
  /** The last request of an earlier call: the cache marks of all attempts of a call depend on it. */
  readonly before: SentRequest | undefined
}

function compare(
  { seq, data }: WholeEvent<'provider_request'>,
  request: ComposedRequest,
  last: SentRequest | undefined,
): Mismatch[] {
  if (request.failure !== undefined) {
    return [
      { seq, what: 'payload', recorded: data.request_sha256, recomposed: request.failure.kind },
    ]
  }
  // A request with unreadable payloads cannot be compared; only these are reported.
  const lost = request.losses.map(({ handle, why }) => {
    return { seq, what: 'payload', recorded: handle, recomposed: why } as const
  })
  if (lost.length > 0) return lost
  const shared = sharedWith(last, request)
  const pairs = [
    ['request_sha256', data.request_sha256, request.sha256],
    ['request_bytes', data.request_bytes, request.body.length],
    ['shared_prefix_bytes', data.shared_prefix_bytes, shared.shared_prefix_bytes],
    ['prefix_break', data.prefix_break?.cause, shared.prefix_break?.cause],
  ] as const
  return pairs.flatMap(([what, recorded, recomposed]) =>
    recorded === recomposed ? [] : [{ seq, what, recorded, recomposed }],
  )
}
