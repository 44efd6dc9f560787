import { elapsedMs } from '../host/clock.ts'
import type { Descriptor } from '../model/descriptor.ts'
import { failed, type Failed, type HawserError } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import type { AnswerItem, CallUsage, Passage } from '../providers/provider.ts'
import { costOf } from './cost.ts'
import type { TurnParts } from './turn-parts.ts'

/** What a model answered, durable. */
export interface ProviderAnswer {
  readonly calls: readonly ToolCallItem[]
  readonly usage: CallUsage
  /** It ended before the model was done. */
  readonly cut: AnswerCut | undefined
  /** The model continues when it is called again. */
  readonly paused: boolean
  /** US dollars, where the prices are known. */
  readonly cost: number | undefined
}

export type ToolCallItem = Extract<AnswerItem, { kind: 'tool_call' }>

/** A call that came to nothing. What was shown cannot be taken back, so a call that showed anything is not made again. */
export interface FailedCall extends Failed {
  readonly shown: boolean
}

export interface CallNames {
  readonly call_index: number
  /** The id of a call, or another one where the Session has a call of that id already: some servers count anew in each answer. */
  readonly unusedId: (call_id: string) => string
}

/** Sends a request and records what comes back, in the order it came. Deltas are shown; only whole items count. */
export async function callProvider(
  parts: Pick<TurnParts, 'log' | 'model' | 'person'>,
  { stream, continuation }: Passage,
  { call_index, unusedId }: CallNames,
): Promise<{ readonly ok: true; readonly value: ProviderAnswer } | FailedCall> {
  const { log, model } = parts
  const { publish, commit, clock } = log
  const started = clock.monotonicMs()
  const items: AnswerItem[] = []
  let firstToken: number | undefined
  let shown = ''
  let anyShown = false
  const fail = async (error: HawserError): Promise<FailedCall> => {
    const failure = await keepPartial(log, items, shown, error)
    // A Log that cannot be written to ends the Turn, whatever was shown.
    return { ...failure, shown: anyShown || failure.error !== error }
  }
  for await (const event of stream(parts.person.signal)) {
    firstToken ??= elapsedMs(clock, started)
    if (event.type === 'text_delta') {
      shown += event.text
      anyShown = true
      publish({ type: 'text_delta', data: { text: event.text } })
    } else if (event.type === 'reasoning_delta') {
      anyShown = true
      publish({ type: 'reasoning_delta', data: { text: event.text } })
    } else if (event.type === 'item') {
      items.push(event.item)
      // It is recorded whatever comes, and then seen, also where no delta came before it.
      if (event.item.kind === 'text') {
        shown = ''
        anyShown = true
      }
    } else if (event.type === 'error') {
      return fail(event.error)
    } else {
      const made = items.flatMap((item) => (item.kind === 'tool_call' ? [item] : []))
      const wrong = badCalls(made)
      if (wrong !== undefined) return fail(wrong)
      const answer = items.map((item) =>
        item.kind === 'tool_call' ? { ...item, call_id: unusedId(item.call_id) } : item,
      )
      const calls = answer.flatMap((item) => (item.kind === 'tool_call' ? [item] : []))
      const { usage, stop_reason, raw, paused = false } = event
      const cut = event.cut && { ...event.cut, stop_reason }
      const cost = costOf(usage, model.facts?.prices)
      const latency_ms = elapsedMs(clock, started)
      const first = firstToken === undefined ? {} : { first_token_ms: firstToken }
      const attached = calls.length === 0 ? attachedIn(log) : []
      const lastText = answer.findLastIndex(({ kind }) => kind === 'text')
      const recorded = await commit([
        ...answer.map((item, at) => draftOf(model, item, at === lastText ? attached : [])),
        {
          type: 'provider_usage',
          data: {
            call_index,
            usage,
            ...(raw === undefined ? {} : { raw }),
            ...(cost === undefined ? {} : { cost_usd: cost }),
            latency_ms,
            ...first,
            ...(continuation === undefined ? {} : { continuation }),
            pressure: 'unavailable',
            stop_reason,
          },
        },
      ])
      return recorded.ok
        ? { ok: true, value: { calls, usage, cost, cut, paused } }
        : { ...recorded, shown: true }
    }
  }
  return fail(
    failed('invalid_response', 'The model stopped without saying that it was done.').error,
  )
}

/** What the agent attached in this Turn; its last words carry it. */
function attachedIn({ events, turn }: TurnParts['log']): readonly Descriptor[] {
  return events().flatMap((event) =>
    event.type === 'resource_ingested' && event.turn_id === turn ? [event.data.descriptor] : [],
  )
}

function draftOf(
  { provider, surface }: TurnParts['model'],
  item: AnswerItem,
  resources: readonly Descriptor[],
): EventDraft {
  switch (item.kind) {
    case 'text':
      return {
        type: 'assistant_message',
        data: {
          text: item.text,
          ...(item.phase === undefined ? {} : { phase: item.phase }),
          ...(resources.length === 0 ? {} : { resources }),
        },
      }
    case 'reasoning':
      return {
        type: 'reasoning',
        data: { dialect: provider.dialect, model: surface.model, item: item.item },
      }
    case 'tool_call': {
      const { call_id, name, arguments: text } = item
      return { type: 'tool_call', data: { call_id, name, arguments: text } }
    }
  }
}

/** What a person has seen is kept, as part of an answer; calls of an answer that did not end never run. */
async function keepPartial(
  { commit }: TurnParts['log'],
  items: readonly AnswerItem[],
  shown: string,
  error: HawserError,
): Promise<Failed> {
  const whole = items.flatMap((item) => (item.kind === 'text' ? [item.text] : []))
  const text = [...whole, shown].filter((piece) => piece !== '').join('\n')
  if (text !== '') {
    const kept = await commit([{ type: 'assistant_message', data: { text, partial: true } }])
    if (!kept.ok) return kept
  }
  return { ok: false, error }
}

const CALL_ID_BYTES = 160
const NAME = /^[A-Za-z0-9_.:-]{1,64}$/

function badCalls(calls: readonly ToolCallItem[]): HawserError | undefined {
  const ids = new Set(calls.map(({ call_id }) => call_id))
  const fits = calls.every(
    ({ call_id, name }) =>
      call_id !== '' && Buffer.byteLength(call_id) <= CALL_ID_BYTES && NAME.test(name),
  )
  if (fits && ids.size === calls.length) return undefined
  return failed('invalid_response', 'The model made a call that is not one.').error
}
