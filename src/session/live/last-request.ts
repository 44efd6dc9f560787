import { ok, type Result } from '../../model/errors.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { asSent, RequestComposer, type SentRequest } from '../../request/compose-request.ts'
import { recordedSurface } from './recorded-surface.ts'
import type { SessionParts } from './session-parts.ts'

/**
 * The last request in the Log: as this process sent it, or composed again from the Events before it. The next request
 * is compared with what was really sent last, also by another process. Fails when the store fails.
 */
export async function lastRequestOf(
  { log: { store }, model }: Pick<SessionParts, 'log' | 'model'>,
  events: readonly WholeEvent[],
  known: SentRequest | undefined,
): Promise<Result<SentRequest | undefined>> {
  const at = events.findLastIndex(({ type }) => type === 'provider_request')
  const sent = events[at]
  if (sent?.type !== 'provider_request') return ok(undefined)
  if (known?.sha256 === sent.data.request_sha256) return ok(known)
  const before = events.slice(0, at)
  const found = await recordedSurface(store, before)
  const dialect = await model.dialectOf(sent.data.dialect)
  if (!found.ok || !dialect.ok) return ok(undefined)
  const cacheKey = sent.data.cache_key
  const { surface, recorded } = found.value
  const words = recorded.words_sha256
  const parts = { provider: dialect.value, surface, words, store, cacheKey }
  const request = await new RequestComposer(parts, sent.turn_id).compose(before, {
    recorded: sent.data.projected,
  })
  return request.failure === undefined ? ok(asSent(request)) : { ok: false, error: request.failure }
}
