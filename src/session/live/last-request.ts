import { comparedRequest, type CacheKeeper } from '../../request/compared-request.ts'
import { historyOf, type History } from '../../history/history.ts'
import { providerAfter } from '../../history/provider-name.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { eventsBefore } from '../../history/without-calls.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
import type { Surface } from '../../model/surface.ts'
import { RequestComposer, type RequestParts } from '../../request/compose-request.ts'
import { surfaceRequest, type SentRequest } from '../../request/sent-request.ts'
import { frozenSurface, type RecordedSurface } from '../surface/recorded-surface.ts'
import type { SessionParts } from './session-parts.ts'

type Parts = Pick<SessionParts, 'log' | 'model'>

/**
 * The request that the next one to `keeper` is compared with: as this process sent it, or composed again from the Events
 * before it, so that it is always what was really sent, even by another process. Fails when the store fails.
 */
export async function lastRequestOf(
  parts: Parts,
  all: readonly WholeEvent[],
  keeper: CacheKeeper,
  { knownRequests, current }: KnownToday,
): Promise<Result<SentRequest | undefined>> {
  const history = historyOf(all)
  const sent = sentRequest(history, keeper)
  if (sent === undefined) return ok(undefined)
  const own = knownRequests.find(({ sha256 }) => sha256 === sent.request_sha256)
  if (own !== undefined) return ok(own)
  const surface = await surfaceOf(parts, sent, current)
  if (surface === undefined) return ok(undefined)
  return sent.event === undefined || sent.seq < (history.checkpoint?.seq ?? 0)
    ? surfaceOnly(parts, sent, surface)
    : composedAgain(parts, sent.event, sent, surface)
}

/** What need not be composed or read again. */
interface KnownToday {
  /** Requests that this process sent. */
  readonly knownRequests: readonly SentRequest[]
  /** The surface in force. */
  readonly current: RecordedSurface
}

/** A sent request, and what it was composed with. */
interface RecordedSent {
  readonly seq: number
  readonly provider: string
  readonly dialect: string
  readonly request_sha256: string
  readonly request_bytes: number
  /** The blob of its surface. */
  readonly surface: BlobKey | undefined
  readonly words_sha256?: string | undefined
  /** Its Event and those before it, unless a checkpoint replaced them. */
  readonly event?: SentEvent
}

interface SentEvent {
  readonly event: WholeEvent<'provider_request'>
  readonly before: readonly WholeEvent[]
}

function sentRequest(history: History, keeper: CacheKeeper): RecordedSent | undefined {
  const found = comparedRequest(history, keeper)
  if (found === undefined || 'earlier' in found) return found?.earlier
  const { state, events } = history
  const event = events[found.at]
  if (event?.type !== 'provider_request') return undefined
  const before = eventsBefore(events, found.at)
  const recorded = surfaceAfter({ state, events: before })
  return {
    ...event.data,
    seq: event.seq,
    provider: providerAfter({ state, events: before }) ?? '',
    surface: recorded?.blob,
    words_sha256: recorded?.words_sha256,
    event: { event, before },
  }
}

async function surfaceOf(
  { log: { store } }: Parts,
  { surface: blob }: RecordedSent,
  { surface, event }: RecordedSurface,
): Promise<Surface | undefined> {
  if (blob === undefined) return undefined
  if (blob === event.blob) return surface
  const frozen = await frozenSurface(store, blob)
  return frozen.ok ? frozen.value : undefined
}

/** A request from before the checkpoint shares no more than the surface with a later one. */
async function surfaceOnly(
  { model }: Parts,
  { provider: providerName, dialect, words_sha256: words, ...sent }: RecordedSent,
  surface: Surface,
): Promise<Result<SentRequest | undefined>> {
  const provider = await model.dialectOf(dialect)
  if (!provider.ok) return ok(undefined)
  const parts = { provider: provider.value, providerName, surface, words }
  return ok(surfaceRequest(parts, { sha256: sent.request_sha256, length: sent.request_bytes }))
}

async function composedAgain(
  { log: { store }, model }: Parts,
  { event, before }: SentEvent,
  { provider: providerName, words_sha256: words }: RecordedSent,
  surface: Surface,
): Promise<Result<SentRequest | undefined>> {
  const dialect = await model.dialectOf(event.data.dialect)
  if (!dialect.ok) return ok(undefined)
  const cacheKey = event.data.cache_key
  const provider = dialect.value
  const parts: RequestParts = { provider, providerName, surface, words, store, cacheKey }
  return new RequestComposer(parts, event.turn_id).composeAgain(before, event.data)
}

/** The last request to each of the models that were used last, newest first. Others are composed again when they are needed. */
export function rememberRequest(
  known: readonly SentRequest[],
  sent: SentRequest | undefined,
): readonly SentRequest[] {
  if (sent === undefined) return known
  const { dialect, provider, surface } = sent.inputs
  const others = known.filter(
    ({ inputs }) =>
      inputs.dialect !== dialect ||
      inputs.provider !== provider ||
      inputs.surface.model !== surface.model,
  )
  return [sent, ...others].slice(0, MOST_REMEMBERED)
}

/** Each entry keeps the segments of a whole request in memory. */
const MOST_REMEMBERED = 2
