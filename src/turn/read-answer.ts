import { elapsedMs } from '../host/clock.ts'
import { failed, ok, type HawserError } from '../model/errors.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import type { AnswerItem, Delivery, ProviderEvent } from '../providers/provider.ts'
import { answerDrafts, badCalls, callsIn, keepPartial, type ProviderAnswer } from './answer.ts'
import type { CallIds } from './call-ids.ts'
import { costOf } from './cost.ts'
import type { FailedCall } from './parts/failed-call.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { usageNews } from './pressure/pressure-news.ts'

export type CallOutcome = { readonly ok: true; readonly value: ProviderAnswer } | FailedCall

/** What an answer is read with. */
export interface AnsweredRequest {
  readonly parts: Pick<TurnParts, 'log' | 'model' | 'person' | 'context'>
  readonly callIds: CallIds
  readonly call_index: number
  /** Called with the name of each tool that the answer calls, while the rest of it arrives. */
  onCall?(name: string): void
}

/** Reads the response to a recorded request. Deltas are for display; only complete items count. */
export async function readAnswer(
  reading: AnsweredRequest,
  { stream, transport, continuation }: Delivery,
): Promise<CallOutcome> {
  const { log, person } = reading.parts
  const startedAt = log.clock.monotonicMs()
  const items: AnswerItem[] = []
  let firstToken: number | undefined
  let shown = ''
  let anyShown = false
  const fail = async (error: HawserError): Promise<FailedCall> => {
    const failure = await keepPartial(log, items, shown, error)
    // A Log that cannot be written ends the Turn, whatever was shown.
    return { ...failure, wasShown: anyShown || failure.error !== error }
  }
  for await (const event of stream(person.signal)) {
    firstToken ??= elapsedMs(log.clock, startedAt)
    if (event.type === 'text_delta') {
      shown += event.text
      anyShown = true
      log.publish({ type: 'text_delta', data: { text: event.text } })
    } else if (event.type === 'reasoning_delta') {
      anyShown = true
      log.publish({ type: 'reasoning_delta', data: { text: event.text } })
    } else if (event.type === 'item') {
      items.push(event.item)
      if (event.item.kind === 'tool_call') reading.onCall?.(event.item.name)
      // Text is recorded in any case, so it counts as shown, even without deltas.
      if (event.item.kind === 'text') {
        shown = ''
        anyShown = true
      }
    } else if (event.type === 'error') {
      return fail(event.error)
    } else {
      const wrong = badCalls(callsIn(items))
      if (wrong !== undefined) return fail(wrong)
      const timing = { startedAt, firstToken }
      return record(reading, items, event, { transport, continuation, ...timing })
    }
  }
  return fail(
    failed('invalid_response', 'The response of the model ended without a final event.').error,
  )
}

interface CallFacts extends Pick<Delivery, 'transport'> {
  readonly continuation: Delivery['continuation'] | undefined
  readonly startedAt: number
  readonly firstToken: number | undefined
}

/** Records a complete answer and its usage in one write; one without calls is left to the end of the Turn, for the same write. */
async function record(
  { parts, callIds, call_index }: AnsweredRequest,
  items: readonly AnswerItem[],
  { usage, stop_reason, raw, isPaused, cut }: Extract<ProviderEvent, { type: 'done' }>,
  { transport, continuation, startedAt, firstToken }: CallFacts,
): Promise<CallOutcome> {
  const { log, model } = parts
  // Some servers restart the numbering of calls in each answer; an id must be unique in the Session.
  const answer = items.map((item) =>
    item.kind === 'tool_call' ? { ...item, call_id: callIds.claim(item.call_id) } : item,
  )
  const cost = costOf(usage, model.facts?.prices)
  const { pressure, drafts, publish } = usageNews(parts, usage)
  const data = {
    call_index,
    contract_version: model.surface.contract_version,
    transport,
    usage,
    ...definedFields({ raw, cost_usd: cost }),
    latency_ms: elapsedMs(log.clock, startedAt),
    ...definedFields({ first_token_ms: firstToken, continuation }),
    pressure,
    stop_reason,
  } as const
  const all = [...answerDrafts(parts, answer), { type: 'provider_usage', data } as const, ...drafts]
  const calls = callsIn(answer)
  const isLast = calls.length === 0 && isPaused !== true
  const recorded = isLast ? ok(undefined) : await log.commit(all)
  if (!recorded.ok) return { ...recorded, wasShown: true }
  if (!isLast) publish()
  const value = {
    ...(isLast ? { toRecord: { drafts: all, publish } } : {}),
    calls,
    usage,
    cost,
    cut: cut && { ...cut, stop_reason },
    isPaused: isPaused === true,
  }
  return { ok: true, value }
}
