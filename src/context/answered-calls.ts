import { SessionResources } from '../history/session-resources.ts'
import type { WholeEvent } from '../model/event.ts'
import type { ResourceId } from '../model/ids.ts'

/** A call to the model that was answered: what its request held, and what it cost. */
export interface AnsweredCall {
  /** When the answer was recorded, in milliseconds since 1970. */
  readonly at: number
  /** All of the request, in tokens. */
  readonly tokens: number
  /** The request without what it showed of Resources. */
  readonly textBytes: number
  /** Bytes of the request that show a Resource. */
  readonly shown: ReadonlyMap<ResourceId, number>
  /** The request grew out of that of the call before it: no other model, and no checkpoint, came between. */
  readonly grown: boolean
  /** Part of it could have been cached, and none of it was, neither before nor now. */
  readonly uncached: boolean
  readonly cost: number
}

/** What a token costs, by how the provider took it, in units of one that no cache knew. */
export const PRICES = { uncached: 1, written: 1.25, cached: 0.1 } as const

/** In the order of their requests. A request that was not answered is none. */
export function answeredCalls(events: readonly WholeEvent[]): AnsweredCall[] {
  const calls: AnsweredCall[] = []
  const resources = new SessionResources(events)
  let asked: WholeEvent<'provider_request'> | undefined
  let family = ''
  let checkpoint = false
  for (const event of events) {
    if (event.type === 'provider_request') asked = event
    else if (event.type === 'history_compaction' || event.type === 'compaction_undone')
      checkpoint = true
    else if (event.type === 'provider_usage' && asked?.turn_id === event.turn_id) {
      const { dialect, model } = asked.data
      const grown = !checkpoint && family === `${dialect} ${model}`
      calls.push({ ...requestOf(asked, resources), ...usageOf(event, asked), grown })
      family = `${dialect} ${model}`
      checkpoint = false
      asked = undefined
    }
  }
  return calls
}

function requestOf({ data }: WholeEvent<'provider_request'>, resources: SessionResources) {
  const shown = new Map<ResourceId, number>()
  for (const { resource_id, bytes, made } of data.projected ?? []) {
    const isText = made?.format === 'text' || resources.byId(resource_id)?.descriptor.kind === 'text'
    const sent = isText ? bytes : base64Length(bytes)
    shown.set(resource_id, (shown.get(resource_id) ?? 0) + sent)
  }
  const ofResources = [...shown.values()].reduce((sum, bytes) => sum + bytes, 0)
  return { shown, textBytes: Math.max(0, data.request_bytes - ofResources) }
}

function usageOf(
  { ts, data: { usage } }: WholeEvent<'provider_usage'>,
  { data: { shared_prefix_bytes } }: WholeEvent<'provider_request'>,
) {
  const { input, cached_read, cache_write } = usage
  const rest = Math.max(0, input - cached_read - cache_write)
  return {
    at: Date.parse(ts),
    tokens: input,
    uncached: shared_prefix_bytes > 0 && cached_read + cache_write === 0,
    cost: PRICES.uncached * rest + PRICES.written * cache_write + PRICES.cached * cached_read,
  }
}

/** How long so many bytes are in base64. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4
}
