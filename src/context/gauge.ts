import { base64Length } from '../encoding/base64.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { ResourceId } from '../model/ids.ts'
import { currentRange } from '../history/current-range.ts'
import { compactionsInForce } from '../history/history.ts'
import { MEDIA_BYTES } from './token-estimate.ts'

/** The last recorded usage that still describes the next request. */
export interface Gauge {
  /** Prompt tokens of its call. */
  readonly tokens: number
  /** Tokens of its answer, which the next request contains. */
  readonly output: number
  readonly request: EventData<'provider_request'>
  /** A compaction was undone since. */
  readonly wasUndone: boolean
}

/** Who was called; without a dialect, in any. */
interface Caller {
  readonly model: string
  readonly dialect?: string | undefined
}

/** The gauge of a model; `undefined` if it was not called since the last compaction in force. Pure. */
export function gaugeOf(
  events: readonly WholeEvent[],
  { dialect, model }: Caller,
): Gauge | undefined {
  let usage: EventData<'provider_usage'>['usage'] | undefined
  let wasUndone = false
  for (const event of currentRange(events)) {
    if (event.type === 'compaction_undone') wasUndone = true
    if (event.type === 'provider_usage') ({ usage } = event.data)
    if (event.type !== 'provider_request' || usage === undefined) continue
    const { data: request } = event
    if (request.model === model && request.dialect === (dialect ?? request.dialect))
      return { tokens: usage.input, output: usage.output, request, wasUndone }
    usage = undefined
  }
  return undefined
}

/** Whether the last usage was critical, and a compaction acted on it that no usage followed yet. Pure. */
export function isRelieved(events: readonly WholeEvent[]): boolean {
  const trigger = compactionsInForce(events).at(-1)?.data.trigger
  if (trigger === undefined || !OF_CRITICAL_USAGE.has(trigger)) return false
  for (const { type } of currentRange(events)) if (type === 'provider_usage') return false
  return true
}

const OF_CRITICAL_USAGE: ReadonlySet<EventData<'history_compaction'>['trigger']> = new Set([
  'critical_pressure_preflight',
  'websocket_critical_recovery',
])

/** The size of a request, as recorded or as composed. */
export type RequestSize = Pick<EventData<'provider_request'>, 'request_bytes' | 'projected'>

type KindOf = (resource: ResourceId) => string | undefined

/**
 * Estimates the tokens of a request from its difference to the gauged one, or from its length alone. `kindOf` returns the
 * kind of a Resource. Pure.
 */
export function estimatedTokens(
  next: RequestSize,
  gauge: Pick<Gauge, 'tokens' | 'request'> | undefined,
  kindOf: KindOf,
): number {
  const bytes = countedBytes(next, kindOf)
  if (gauge === undefined) return Math.ceil(bytes * USUAL_RATIO)
  const known = countedBytes(gauge.request, kindOf)
  const perByte = Math.min(MOST_RATIO, gauge.tokens / Math.max(1, known))
  return Math.max(0, Math.ceil(gauge.tokens + (bytes - known) * perByte))
}

/** Tokens per byte if no call shows the ratio of this Session; and the highest ratio that text can have. */
const USUAL_RATIO = 0.25
const MOST_RATIO = 1

/** The bytes of a request, with a fixed number for each image or PDF, whose tokens do not depend on their bytes. */
function countedBytes({ request_bytes, projected = [] }: RequestSize, kindOf: KindOf): number {
  return projected.reduce((sum, { resource_id, bytes, made }) => {
    const isText = made?.format === 'text' || (made === undefined && kindOf(resource_id) === 'text')
    return isText ? sum : sum - base64Length(bytes) + MEDIA_BYTES
  }, request_bytes)
}
