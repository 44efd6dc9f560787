import type { Descriptor } from '../../model/descriptor.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { hydrationSubject, isHydrationSubject } from '../../model/permission-subject.ts'
import type { ResultNotice } from './event-notices.ts'
import { turnNotices } from './turn-notices.ts'
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
  /** Its writer crashed, and it was not continued. */
  readonly crash_recovered?: true
  /** The tools of calls that began before a crash and have no result. */
  readonly unknown_tools?: readonly string[]
  /** Files that its calls created or changed and that run later, for example in CI or a build. */
  readonly runs_later?: readonly RunsLater[]
  /** What a person must know about the Turn, in order. */
  readonly notices: readonly ResultNotice[]
  /** Calls that were denied because there was no one to ask, and hydrations that no person denied. */
  readonly denied: number
}

/** The result of a Turn, from the Events of its Session; those of other Turns are ignored. Pure. */
export function turnResult(events: readonly WholeEvent[], turn_id: string): TurnResult {
  const own = events.filter((event) => event.turn_id === turn_id)
  const ended = own.findLast((event) => event.type === 'turn_ended')
  const { usage_total, crash_recovered } = ended?.data ?? {}
  const later = runsLater(own)
  const unknown = own.flatMap((event) =>
    event.type === 'tool_result' && event.data.outcome === 'unknown' ? [event.data.name] : [],
  )
  const used = own.findLast((event) => event.type === 'provider_usage')
  return {
    turn_id,
    ...turnAnswer(own),
    resources: own.flatMap((event) =>
      event.type === 'resource_ingested' && event.data.origin === 'egress'
        ? [event.data.descriptor]
        : [],
    ),
    usage: usage_total ?? NOTHING,
    ...(used === undefined ? {} : { pressure: used.data.pressure }),
    ...(crash_recovered === true ? { crash_recovered } : {}),
    ...(unknown.length === 0 ? {} : { unknown_tools: unknown }),
    ...(later.length === 0 ? {} : { runs_later: later }),
    notices: turnNotices(events, turn_id),
    denied: deniedIn(own),
  }
}

/** How a Turn ended and what it answered, from its own Events. Pure. */
export function turnAnswer(
  own: readonly WholeEvent[],
): Pick<TurnResult, 'status' | 'text' | 'error' | 'cut'> {
  const ended = own.findLast((event) => event.type === 'turn_ended')
  const { status = 'failed', error, cut } = ended?.data ?? {}
  return {
    status,
    text: answerIn(own),
    ...(error === undefined ? {} : { error }),
    ...(cut === undefined ? {} : { cut }),
  }
}

/** A hydration counts once, whether a rule denied it or no one could be asked. */
function deniedIn(own: readonly WholeEvent[]): number {
  const decidedBy = new Map<string, EventData<'permission_decision'>['by']>()
  let denied = 0
  for (const event of own) {
    if (event.type === 'permission_decision') {
      const { subject, by } = event.data
      decidedBy.set(subject, by)
      if (by === 'nobody' && !isHydrationSubject(subject)) denied += 1
    } else if (event.type === 'skill_context_hydration' && event.data.status === 'denied') {
      const { skill, context_source_id } = event.data
      const by = decidedBy.get(hydrationSubject(skill.name, context_source_id))
      if (by !== 'person' && by !== 'timeout') denied += 1
    }
  }
  return denied
}

/** The cost of the calls of a Turn; `undefined` unless the cost of each is known. Pure. */
export function turnCost(events: readonly WholeEvent[]): number | undefined {
  const costs = events.flatMap((event) =>
    event.type === 'provider_usage' ? [event.data.cost_usd] : [],
  )
  if (costs.length === 0 || lostCalls(events) > 0) return undefined
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

/** The codes of the notices with which a Turn continues after a crash. */
export const RESENT_AFTER_CRASH = 'resent_after_crash'
export const CONTINUED_AFTER_CRASH = 'continued_after_crash'

/** Whether the Event says that a Turn continued after a crash. */
export function isContinuation({ type, data }: WholeEvent): boolean {
  return (
    type === 'notice' && (data.code === RESENT_AFTER_CRASH || data.code === CONTINUED_AFTER_CRASH)
  )
}

/**
 * The number of calls of a Turn that were running when Hawser stopped, so that their cost is unknown. While a call runs,
 * nothing else of its Turn is recorded: such a request is followed by the notice of a continuation, by the end that the next
 * writer recorded, or by nothing. `own` are all Events of the Turn. Pure.
 */
export function lostCalls(own: readonly WholeEvent[]): number {
  return own.filter((event, at) => {
    if (event.type !== 'provider_request') return false
    const next = own[at + 1]
    if (next === undefined || isContinuation(next)) return true
    return next.type === 'turn_ended' && next.data.crash_recovered === true
  }).length
}
