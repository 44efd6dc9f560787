import { expect, test } from 'vitest'
import { SAMPLES } from '../../../test/support/history/every-event-data.ts'
import { wholeEvents } from '../../../test/support/history/sample-resources.ts'
import { EventEnvelope, type EventDraft } from '../../model/events/event.ts'
import { TurnId } from '../../model/ids.ts'
import { UpdateTranslation } from './translate-updates.ts'

const turnId = (n: number) => TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y0z1${n}`)
const usage_total = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }
const start = (n: number, purpose?: 'summary'): EventDraft => ({
  type: 'turn_started',
  turn_id: turnId(n),
  data: { source: { presenter: 'http' }, ...(purpose === undefined ? {} : { purpose }) },
})
const end = (n: number): EventDraft => ({
  type: 'turn_ended',
  turn_id: turnId(n),
  data: { status: 'completed', usage_total },
})
const notice = (code: string, n?: number): EventDraft => ({
  type: 'notice',
  ...(n === undefined ? {} : { turn_id: turnId(n) }),
  data: { code, text: code },
})

/** The codes of notices at each `process:exit`, for a client that watches from the start. */
function exits(drafts: readonly EventDraft[]): string[][] {
  const translation = new UpdateTranslation({ provider: 'p', model: 'm' })
  return wholeEvents(drafts).flatMap((event) =>
    translation
      .messages({ kind: 'event', raw: EventEnvelope.parse(event), event })
      .filter((message) => message.event === 'process:exit')
      .map(({ data }) => {
        const { notices } = data as { notices: readonly { code: string }[] }
        return notices.map(({ code }) => code)
      }),
  )
}

test('a notice between two Turns is reported at the end of the next one, and never again', () => {
  const drafts = [start(1), end(1), notice('not_vouched'), start(2), end(2), start(3), end(3)]
  expect(exits(drafts)).toEqual([[], ['not_vouched'], []])
})

test('a Turn that writes a summary within another keeps the notices of that one', () => {
  const drafts = [start(1), notice('retry', 1), start(2, 'summary'), end(2), end(1)]
  expect(exits(drafts)).toEqual([[], ['retry']])
})

test('Events that are lost and follow again are reported once', () => {
  const translation = new UpdateTranslation({ provider: 'p', model: 'm' })
  const [begin, told, over] = wholeEvents([start(1), notice('retry', 1), end(1)]).map((event) => {
    return { kind: 'event', raw: EventEnvelope.parse(event), event } as const
  })
  if (begin === undefined || told === undefined || over === undefined) throw new Error('no Event')
  translation.messages(begin)
  translation.messages(told)
  translation.messages({ kind: 'rewound', after_seq: 0 })
  translation.messages(told)
  const exit = translation.messages(over).at(-1)
  expect(exit?.data).toMatchObject({ notices: [{ code: 'retry' }] })
})

test('the cost of a Turn is unknown if one of its calls was lost in a crash', () => {
  const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
  const paid: EventDraft = {
    type: 'provider_usage',
    turn_id: turnId(1),
    data: {
      call_index: 0,
      usage,
      cost_usd: 0.5,
      latency_ms: 1,
      pressure: 'unavailable',
      stop_reason: 'end_turn',
    },
  }
  const costs = (drafts: readonly EventDraft[]) => {
    const translation = new UpdateTranslation({ provider: 'p', model: 'm' })
    return wholeEvents(drafts)
      .flatMap((event) =>
        translation.messages({ kind: 'event', raw: EventEnvelope.parse(event), event }),
      )
      .flatMap(({ event, data }) =>
        event === 'session:complete' && 'costUsd' in data ? [data.costUsd] : [],
      )
  }
  expect(costs([start(1), paid, end(1)])).toEqual([0.5])
  const request = {
    type: 'provider_request',
    turn_id: turnId(1),
    data: SAMPLES.provider_request,
  } as const
  const lost = [start(1), request, notice('resent_after_crash', 1), request, paid, end(1)]
  expect(costs(lost)).toEqual([null])
})
