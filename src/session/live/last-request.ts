import { comparedRequest, type CacheKeeper } from '../../contract/compared-request.ts'
import { historyOf, type History } from '../../history/history.ts'
import { providerAfter } from '../../history/provider-name.ts'
import { surfaceAfter } from '../../history/surface-record.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import type { BlobKey } from '../../model/ids.ts'
import { RequestComposer, type RequestParts } from '../../request/compose-request.ts'
import { surfaceRequest, type SentRequest } from '../../request/sent-request.ts'
import { frozenSurface, recordedSurface } from '../surface/recorded-surface.ts'
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
  known: readonly SentRequest[],
): Promise<Result<SentRequest | undefined>> {
  const history = historyOf(all)
  const sent = sentRequest(history, keeper)
  if (sent === undefined) return ok(undefined)
  const own = known.find(({ sha256 }) => sha256 === sent.request_sha256)
  if (own !== undefined) return ok(own)
  return sent.seq < (history.checkpoint?.seq ?? 0)
    ? surfaceOnly(parts, sent)
    : composedAgain(parts, history.events, sent)
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
}

function sentRequest(history: History, keeper: CacheKeeper): RecordedSent | undefined {
  const found = comparedRequest(history, keeper)
  if (found === undefined || 'earlier' in found) return found?.earlier
  const { state, events } = history
  const sent = events[found.at]
  if (sent?.type !== 'provider_request') return undefined
  const before = { state, events: events.slice(0, found.at) }
  const surface = surfaceAfter(before)
  const words_sha256 = surface?.words_sha256
  const provider = providerAfter(before) ?? ''
  return { ...sent.data, seq: sent.seq, provider, surface: surface?.blob, words_sha256 }
}

/** A request from before the checkpoint shares no more than the surface with a later one. */
async function surfaceOnly(
  { log: { store }, model }: Parts,
  { provider: providerName, dialect, surface: blob, words_sha256: words, ...sent }: RecordedSent,
): Promise<Result<SentRequest | undefined>> {
  const provider = await model.dialectOf(dialect)
  const surface = blob === undefined ? undefined : await frozenSurface(store, blob)
  if (!provider.ok || surface?.ok !== true) return ok(undefined)
  const parts = { provider: provider.value, providerName, surface: surface.value, words }
  return ok(surfaceRequest(parts, { sha256: sent.request_sha256, length: sent.request_bytes }))
}

async function composedAgain(
  { log: { store }, model }: Parts,
  events: readonly WholeEvent[],
  { seq }: RecordedSent,
): Promise<Result<SentRequest | undefined>> {
  const at = events.findIndex((event) => event.seq === seq)
  const sent = events[at]
  if (sent?.type !== 'provider_request') return ok(undefined)
  const before = events.slice(0, at)
  const found = await recordedSurface(store, before)
  const dialect = await model.dialectOf(sent.data.dialect)
  if (!found.ok || !dialect.ok) return ok(undefined)
  const cacheKey = sent.data.cache_key
  const { surface, recorded } = found.value
  const words = recorded.words_sha256
  const providerName = providerAfter(before)
  const parts: RequestParts = {
    provider: dialect.value,
    providerName,
    surface,
    words,
    store,
    cacheKey,
  }
  return new RequestComposer(parts, sent.turn_id).composeAgain(before, sent.data)
}

/** The last request to each of the models that were used last, newest first. Others are composed again when they are needed. */
export function remembered(
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
