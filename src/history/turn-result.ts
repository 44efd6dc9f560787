import type { Descriptor } from '../model/descriptor.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import { runsLater, type RunsLater } from './runs-later.ts'

type TurnEndData = WholeEvent<'turn_ended'>['data']

/** The result of one Turn, for programs. */
export interface TurnResult {
  readonly turn_id: string
  /** `failed` if these Events do not contain its end. */
  readonly status: TurnEndData['status']
  /** The answer: the text of the model after its last call. */
  readonly text: string
  /** Resources that the agent attached to its answer. */
  readonly resources: readonly Descriptor[]
  readonly usage: TurnEndData['usage_total']
  /** How full the window of the model was at the last call of the Turn. */
  readonly pressure?: EventData<'provider_usage'>['pressure']
  readonly error?: NonNullable<TurnEndData['error']>
  /** Why the answer is incomplete. */
  readonly cut?: NonNullable<TurnEndData['cut']>
  /** Files that its calls created or changed and that run later, for example in CI or a build. */
  readonly runs_later?: readonly RunsLater[]
  /** Calls that were denied because there was no one to ask. */
  readonly denied: number
}

/** The result of a Turn, from the Events of its Session; those of other Turns are ignored. Pure. */
export function turnResult(events: readonly WholeEvent[], turn_id: string): TurnResult {
  const own = events.filter((event) => event.turn_id === turn_id)
  const ended = own.findLast((event) => event.type === 'turn_ended')
  const { status = 'failed', usage_total, error, cut } = ended?.data ?? {}
  const later = runsLater(own)
  const used = own.findLast((event) => event.type === 'provider_usage')
  return {
    turn_id,
    status,
    text: answerIn(own),
    resources: own.flatMap((event) =>
      event.type === 'resource_ingested' && event.data.origin === 'egress'
        ? [event.data.descriptor]
        : [],
    ),
    usage: usage_total ?? NOTHING,
    ...(used === undefined ? {} : { pressure: used.data.pressure }),
    ...(error === undefined ? {} : { error }),
    ...(cut === undefined ? {} : { cut }),
    ...(later.length === 0 ? {} : { runs_later: later }),
    denied: own.filter(
      (event) => event.type === 'permission_decision' && event.data.by === 'nobody',
    ).length,
  }
}

/** The cost of the calls of a Turn; `undefined` unless the cost of each is known. Pure. */
export function turnCost(events: readonly WholeEvent[]): number | undefined {
  const costs = events.flatMap((event) =>
    event.type === 'provider_usage' ? [event.data.cost_usd] : [],
  )
  if (costs.length === 0) return undefined
  return costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0,
  )
}

/** Without an incomplete answer that was requested again. */
function answerIn(events: readonly WholeEvent[]): string {
  const lastCall = events.findLastIndex(({ type }) => type === 'tool_result')
  const lastRequest = events.findLastIndex(({ type }) => type === 'provider_request')
  return events
    .flatMap((event, at) => {
      if (at <= lastCall || event.type !== 'assistant_message') return []
      return event.data.partial === true && at < lastRequest ? [] : [event.data.text]
    })
    .join('\n')
}

const NOTHING: TurnEndData['usage_total'] = {
  input: 0,
  cached_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  calls: 0,
}
