import type { Delivery } from '../providers/provider.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { PrefixComparison, SentRequest } from '../request/sent-request.ts'
import type { TurnParts } from './parts/turn-parts.ts'

/** How a request is delivered. Most providers have one transport; others choose one before anything is recorded. */
export function deliveryOf(
  { log: { session }, model: { provider, surface } }: Pick<TurnParts, 'log' | 'model'>,
  request: ComposedRequest,
  before: SentRequest | undefined,
  { prefix_break }: PrefixComparison,
): Delivery {
  const { body, sha256, bodyOptions, segments } = request
  const plain: Delivery = {
    transport: provider.dialect === 'rehearsal' ? 'in-process' : 'http-sse',
    stream: (signal) => provider.stream(body, signal),
  }
  if (provider.delivery === undefined) return plain
  const last = before && { sha256: before.sha256, count: before.run.count }
  const brokenBy = prefix_break?.cause
  const { model } = surface
  return provider.delivery({ session, model, body, sha256, segments, last, brokenBy, bodyOptions })
}
