import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { answeredCalls } from '../../../src/context/answered-calls.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { freshFolder } from '../host/folder.ts'
import { drawing, png } from '../resources/drawing.ts'
import { recordedSession } from './recorded-session.ts'
import { traceOf } from './recorded-trace.ts'
import { ReplayModel } from './replay-model.ts'
import { playTrace } from './replay-story.ts'
import { smallTrace, type ReplayTrace } from './replay-trace.ts'

const REPLAYS = ['attach-turn', 'window', 'cost-aware'] as const

async function eventsOf(trace: ReplayTrace, replay: (typeof REPLAYS)[number]) {
  return (await playTrace(trace, replay, new ReplayModel(replay, 'wire'))).events
}

test.each(REPLAYS)(
  'a Session that was played from a trace gives the same trace, under %s',
  async (replay) => {
    await fc.assert(
      fc.asyncProperty(smallTrace(), async (trace) => {
        // The first Turn has no pause before it.
        const turns = trace.turns.map((turn, at) => (at === 0 ? { ...turn, after_s: 0 } : turn))
        expect(traceOf(await eventsOf(trace, replay), 'made')).toEqual({ what: 'made', turns })
      }),
      { seed: 20_260_131, numRuns: 30 },
    )
  },
)

test('a Turn without an answer is not part of a trace, but its time is', async () => {
  const turn = { after_s: 30, ask_bytes: 7, attached: [], calls: [50, 9] }
  const events = await eventsOf({ what: 'made', turns: [turn, turn, turn] }, 'window')
  const [, second] = [...new Set(events.flatMap(({ turn_id }) => turn_id ?? []))]
  const unanswered = events.filter(({ type, turn_id }) => {
    return turn_id !== second || type === 'turn_started' || type === 'user_message'
  })
  // The removed Turn lasted eight seconds: two calls of four seconds.
  const third = { ...turn, after_s: 38 }
  const first = { ...turn, after_s: 0 }
  expect(traceOf(unanswered, 'made')).toEqual({ what: 'made', turns: [first, third] })
})

test('a trace has the text lengths of a request', async () => {
  const turn = { after_s: 0, ask_bytes: 1, attached: [], calls: [1] }
  const events = await eventsOf({ what: 'made', turns: [turn] }, 'window')
  const reworded = events.map((event) => {
    if (event.type === 'user_message') return { ...event, data: { ...event.data, text: 'a\n"é"' } }
    return event.type === 'assistant_message' ? { ...event, data: { text: 'ü\t' } } : event
  })
  const turns = [{ ...turn, ask_bytes: 9, calls: [4] }]
  expect(traceOf(reworded, 'made')).toEqual({ what: 'made', turns })
})

/** The growth from request to request, for each Turn. */
function growth(events: readonly WholeEvent[], trace: ReplayTrace): number[][] {
  const sizes = answeredCalls(events).map(({ textBytes }) => textBytes)
  return trace.turns.map(({ calls }) => {
    const own = sizes.splice(0, calls.length)
    return own.slice(1).map((size, at) => size - (own[at] ?? 0))
  })
}

test('the trace of a Session, played again, makes requests that grow as those of the Session', async () => {
  const { width, height, pixels } = drawing(4)
  const files = new Map([
    ['a.png', png(width, height, pixels, 30_000)],
    ['a.txt', Buffer.from('One "line".\nAnd another.\n')],
    ['b.txt', Buffer.from('The tide is low at six.\n'.repeat(40))],
  ])
  const turns = [
    {
      after_s: 0,
      text: 'Read a.txt, then read b.txt, then list the files.',
      attachments: ['a.png'],
    },
    { after_s: 400, text: 'What do you see?', attachments: [] },
    { after_s: 20, text: 'Read b.txt, then search for "tide".', attachments: ['b.txt'] },
  ]
  const events = await recordedSession(await freshFolder(), { files, turns }, 'window')
  const trace = traceOf(events, 'recorded')
  expect(trace.turns.map(({ calls, ...turn }) => ({ ...turn, calls: calls.length }))).toEqual([
    { after_s: 0, ask_bytes: 49, attached: [{ kind: 'image', bytes: 30_000 }], calls: 4 },
    { after_s: 400, ask_bytes: 16, attached: [], calls: 1 },
    { after_s: 20, ask_bytes: 37, attached: [{ kind: 'text', bytes: 960 }], calls: 3 },
  ])
  expect(growth(await eventsOf(trace, 'window'), trace)).toEqual(growth(events, trace))
})
