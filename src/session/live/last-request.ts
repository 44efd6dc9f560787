import {
  comparedRequest,
  providerAfter,
  type CacheKeeper,
} from '../../contract/compared-request.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { RequestComposer, type SentRequest } from '../../request/compose-request.ts'
import { recordedSurface } from './recorded-surface.ts'
import type { SessionParts } from './session-parts.ts'

/**
 * The request that the next one to `keeper` is compared with: as this process sent it, or composed again from the Events
 * before it, so that it is always what was really sent, even by another process. Fails when the store fails.
 */
export async function lastRequestOf(
  { log: { store }, model }: Pick<SessionParts, 'log' | 'model'>,
  events: readonly WholeEvent[],
  keeper: CacheKeeper,
  known: readonly SentRequest[],
): Promise<Result<SentRequest | undefined>> {
  const at = comparedRequest(events, keeper)
  const sent = events[at]
  if (sent?.type !== 'provider_request') return ok(undefined)
  const own = known.find(({ sha256 }) => sha256 === sent.data.request_sha256)
  if (own !== undefined) return ok(own)
  const before = events.slice(0, at)
  const found = await recordedSurface(store, before)
  const dialect = await model.dialectOf(sent.data.dialect)
  if (!found.ok || !dialect.ok) return ok(undefined)
  const cacheKey = sent.data.cache_key
  const { surface, recorded } = found.value
  const words = recorded.words_sha256
  const providerName = providerAfter(before)
  const parts = { provider: dialect.value, providerName, surface, words, store, cacheKey }
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
