import { NO_TOOLS_IN_SUMMARY } from '../prompt/words/summary.ts'
import type { Descriptor } from '../model/descriptor.ts'
import { failed, type Failed, type HawserError } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import type { AnswerItem, CallUsage } from '../providers/provider.ts'
import type { TurnParts } from './parts/turn-parts.ts'

/** A complete answer of the model. */
export interface ProviderAnswer {
  /** Its Events, if they are not recorded yet: a last answer shares a write with what follows it. Any other answer is durable. */
  readonly toRecord?: AnswerToRecord
  readonly calls: readonly ToolCallItem[]
  readonly usage: CallUsage
  /** Set if the answer ended before the model finished. */
  readonly cut: AnswerCut | undefined
  /** The model continues its answer when it is called again. */
  readonly isPaused: boolean
  /** US dollars, if the prices are known. */
  readonly cost: number | undefined
}

export interface AnswerToRecord {
  readonly drafts: readonly EventDraft[]
  /** To be called once they are durable. */
  publish(): void
}

export type ToolCallItem = Extract<AnswerItem, { kind: 'tool_call' }>

export function callsIn(items: readonly AnswerItem[]): readonly ToolCallItem[] {
  return items.flatMap((item) => (item.kind === 'tool_call' ? [item] : []))
}

/**
 * The items of an answer as Events, in order. Its last text carries the attachments that the agent made in this Turn.
 */
export function answerDrafts(
  { log, model }: Pick<TurnParts, 'log' | 'model'>,
  answer: readonly AnswerItem[],
): EventDraft[] {
  const attached = callsIn(answer).length === 0 ? attachedIn(log) : []
  const lastText = answer.findLastIndex(({ kind }) => kind === 'text')
  return answer.map((item, at) => draftOf(model, item, at === lastText ? attached : []))
}

function attachedIn({ events, turn }: TurnParts['log']): readonly Descriptor[] {
  return events().flatMap((event) =>
    event.type === 'resource_ingested' && event.turn_id === turn && event.data.origin === 'egress'
      ? [event.data.descriptor]
      : [],
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

/** The result of a call in a Turn that runs none. */
export function refusedResult({ call_id, name }: ToolCallItem): EventDraft {
  const output = NO_TOOLS_IN_SUMMARY
  return { type: 'tool_result', data: { call_id, name, outcome: 'denied', output, duration_ms: 0 } }
}

/** Records the text of an incomplete answer that a person has seen. Its calls never run. */
export async function keepPartial(
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

export function badCalls(calls: readonly ToolCallItem[]): HawserError | undefined {
  const ids = new Set(calls.map(({ call_id }) => call_id))
  const fits = calls.every(
    ({ call_id, name }) =>
      call_id !== '' && Buffer.byteLength(call_id) <= CALL_ID_BYTES && NAME.test(name),
  )
  if (fits && ids.size === calls.length) return undefined
  return failed('invalid_response', 'The model returned an invalid tool call.').error
}
