import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { traceOf } from './recorded-trace.ts'
import { ReplayModel } from './replay-model.ts'
import { played } from './replay-story.ts'
import { smallTrace, type ReplayTrace } from './replay-trace.ts'

const REPLAYS = ['attach-turn', 'window', 'cost-aware'] as const

async function eventsOf(trace: ReplayTrace, replay: (typeof REPLAYS)[number]) {
  return (await played(trace, replay, new ReplayModel(replay, 'wire'))).events
}

test.each(REPLAYS)(
  'a Session that was played from a trace gives that trace, under %s',
  async (replay) => {
    await fc.assert(
      fc.asyncProperty(smallTrace(), async (trace) => {
        expect(traceOf(await eventsOf(trace, replay), 'made')).toEqual(trace)
      }),
      { seed: 20_260_131, numRuns: 30 },
    )
  },
)

test('a Turn that no model answered is no part of a trace, but takes its time', async () => {
  const turn = { after_s: 30, ask_bytes: 7, attached: [], calls: [50, 9] }
  const events = await eventsOf({ what: 'made', turns: [turn, turn, turn] }, 'window')
  const [, second] = [...new Set(events.flatMap(({ turn_id }) => turn_id ?? []))]
  const unanswered = events.filter(({ type, turn_id }) => {
    return turn_id !== second || type === 'turn_started' || type === 'user_message'
  })
  // The calls that are missing would have taken four seconds each.
  const third = { ...turn, after_s: 38 }
  const first = { ...turn, after_s: 0 }
  expect(traceOf(unanswered, 'made')).toEqual({ what: 'made', turns: [first, third] })
})

test('a trace has the lengths of words as a request has them', async () => {
  const turn = { after_s: 0, ask_bytes: 1, attached: [], calls: [1] }
  const events = await eventsOf({ what: 'made', turns: [turn] }, 'window')
  const told = events.map((event) => {
    if (event.type === 'user_message') return { ...event, data: { ...event.data, text: 'a\n"é"' } }
    return event.type === 'assistant_message' ? { ...event, data: { text: 'ü\t' } } : event
  })
  const turns = [{ ...turn, ask_bytes: 9, calls: [4] }]
  expect(traceOf(told, 'made')).toEqual({ what: 'made', turns })
})
