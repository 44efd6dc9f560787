import type { Result } from '../../model/errors.ts'
import type { EventType, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { readLog, type LogEnd } from '../reading/read-log.ts'
import type { SessionParts } from '../live/session-parts.ts'

/** Totals of provider calls. */
export interface UsageSum {
  readonly calls: number
  readonly input: number
  readonly cached_read: number
  readonly cache_write: number
  readonly output: number
  readonly reasoning: number
  /** Of the calls with a known cost. */
  readonly cost_usd: number
  readonly calls_without_cost: number
  /** Calls that were running when Hawser stopped, which the provider may have charged; absent if there are none. */
  readonly unknown_calls?: number
  /** The largest share of its window that a call filled; absent if no window is known. */
  readonly peak_ratio?: number
}

/** The calls of one day (UTC) to one model. */
export interface UsageRow extends UsageSum {
  readonly day: string
  readonly model: string
}

export const NO_CALLS: UsageSum = {
  calls: 0,
  input: 0,
  cached_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  cost_usd: 0,
  calls_without_cost: 0,
}

/** Sums of Provider Usage by day and model, over any number of Logs. */
export class UsageTable {
  readonly #rows = new Map<string, UsageRow>()
  /** A salvaged Session repeats Events of its original; each call is counted once. */
  readonly #countedCalls = new Set<string>()
  readonly #since: string

  /** Calls before the day `since`, such as `2026-01-31`, are excluded. */
  constructor(since = '') {
    this.#since = since
  }

  /** Sorted by day, then by model. */
  get rows(): readonly UsageRow[] {
    return [...this.#rows.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  }

  get total(): UsageSum {
    return [...this.#rows.values()].reduce(sumOf, NO_CALLS)
  }

  add(event: WholeEvent<'provider_usage'>, model: string): void {
    const { usage, cost_usd, pressure } = event.data
    const cost = { cost_usd: cost_usd ?? 0, calls_without_cost: cost_usd === undefined ? 1 : 0 }
    const peak = pressure === 'unavailable' ? {} : { peak_ratio: pressure.ratio }
    this.#count(event, model, { ...usage, ...cost, ...peak, calls: 1 })
  }

  /** The calls of a Turn whose outcome is unknown. */
  addUnknown(event: WholeEvent<'turn_ended'>, model: string): void {
    const { unknown_calls = 0 } = event.data.usage_total
    if (unknown_calls > 0) this.#count(event, model, { ...NO_CALLS, unknown_calls })
  }

  #count({ id, ts }: WholeEvent, model: string, more: UsageSum): void {
    const day = ts.slice(0, 'yyyy-mm-dd'.length)
    if (day < this.#since || this.#countedCalls.has(id)) return
    this.#countedCalls.add(id)
    const key = `${day} ${model}`
    const before = this.#rows.get(key) ?? { ...NO_CALLS, day, model }
    this.#rows.set(key, { day, model, ...sumOf(before, more) })
  }
}

/** Adds the usage of one Session to `table`. Reads its Log once, as far as possible. `elsewhere`: see `ReadOptions`. */
export async function addUsage(
  parts: Pick<SessionParts['log'], 'place' | 'store' | 'secrets'>,
  session: SessionId,
  table: UsageTable,
  elsewhere?: ReadonlySet<SessionId>,
): Promise<Result<LogEnd>> {
  // A usage Event does not name the model; its request does.
  let model = 'unknown'
  const reading = { types: USAGE_EVENTS, ...(elsewhere === undefined ? {} : { elsewhere }) }
  return readLog(parts, session, reading, ({ event }) => {
    if (event?.type === 'provider_request') model = event.data.model
    if (event?.type === 'provider_usage') table.add(event, model)
    if (event?.type === 'turn_ended') table.addUnknown(event, model)
  })
}

const USAGE_EVENTS: readonly EventType[] = ['provider_request', 'provider_usage', 'turn_ended']

function sumOf(a: UsageSum, b: UsageSum): UsageSum {
  const unknown_calls = (a.unknown_calls ?? 0) + (b.unknown_calls ?? 0)
  return {
    calls: a.calls + b.calls,
    input: a.input + b.input,
    cached_read: a.cached_read + b.cached_read,
    cache_write: a.cache_write + b.cache_write,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
    // Summed in millionths of a cent, so that rounding errors do not accumulate.
    cost_usd: Math.round((a.cost_usd + b.cost_usd) * 1e8) / 1e8,
    calls_without_cost: a.calls_without_cost + b.calls_without_cost,
    ...(unknown_calls === 0 ? {} : { unknown_calls }),
    ...peakOf([a.peak_ratio, b.peak_ratio].filter((ratio) => ratio !== undefined)),
  }
}

function peakOf(ratios: readonly number[]): Pick<UsageSum, 'peak_ratio'> {
  return ratios.length === 0 ? {} : { peak_ratio: Math.max(...ratios) }
}
