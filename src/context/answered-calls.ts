import { base64Length } from '../encoding/base64.ts'
import { SessionResources } from '../history/session-resources.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId } from '../model/ids.ts'

/** An answered call to the model: the content of its request, and its cost. */
export interface AnsweredCall {
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number
  /** Tokens of the whole request. */
  readonly tokens: number
  /** Bytes of the request without those of Resources. */
  readonly textBytes: number
  /** The number of request bytes of each Resource. */
  readonly resourceBytes: ReadonlyMap<ResourceId, number>
  /** It continues the request of the previous call: the same model, and no checkpoint in between. */
  readonly continuesPrevious: boolean
  /** It shares a prefix with an earlier request, and still nothing of it was cached, neither then nor now. */
  readonly cachedNothing: boolean
  readonly cost: number
}

/** Relative prices of a token: read without a cache, written to the cache, and read from it. */
export const PRICES = { uncached: 1, written: 1.25, cached: 0.1 } as const

/** In the order of their requests. */
export function answeredCalls(events: readonly WholeEvent[]): AnsweredCall[] {
  const resources = new SessionResources(events)
  const calls: AnsweredCall[] = []
  let request: WholeEvent<'provider_request'> | undefined
  let answeredBy = ''
  for (const event of events) {
    if (event.type === 'provider_request') request = event
    else if (event.type === 'history_compaction' || event.type === 'compaction_undone')
      answeredBy = ''
    else if (event.type === 'provider_usage' && request !== undefined) {
      const model = `${request.data.dialect} ${request.data.model}`
      const continuesPrevious = model === answeredBy
      calls.push({
        ...requestOf(request, resources),
        ...usageOf(request, event),
        continuesPrevious,
      })
      answeredBy = model
      request = undefined
    }
  }
  return calls
}

function requestOf(
  { ts, data }: WholeEvent<'provider_request'>,
  resources: SessionResources,
): Pick<AnsweredCall, 'at' | 'textBytes' | 'resourceBytes'> {
  const resourceBytes = new Map<ResourceId, number>()
  let textBytes = data.request_bytes
  for (const { resource_id, bytes, made } of data.projected ?? []) {
    const { kind } = resources.byId(resource_id)?.descriptor ?? {}
    const plain = made?.format === 'text' || (made === undefined && kind === 'text')
    const sent = plain ? bytes : base64Length(bytes)
    resourceBytes.set(resource_id, (resourceBytes.get(resource_id) ?? 0) + sent)
    textBytes -= sent
  }
  return { at: Date.parse(ts), textBytes: Math.max(0, textBytes), resourceBytes }
}

function usageOf(
  { data: { shared_prefix_bytes } }: WholeEvent<'provider_request'>,
  { data: { usage } }: WholeEvent<'provider_usage'>,
): Pick<AnsweredCall, 'tokens' | 'cachedNothing' | 'cost'> {
  const { input: tokens, cached_read: read, cache_write: written } = usage
  const rest = Math.max(0, tokens - read - written)
  return {
    tokens,
    cachedNothing: shared_prefix_bytes > 0 && read + written === 0,
    cost: PRICES.uncached * rest + PRICES.written * written + PRICES.cached * read,
  }
}
