import { beforeAll, expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { cutAnswer } from './stream-cut-answer.ts'
import { cutOffences, type Cut, type Evidence, type SeenTurn } from './stream-cut-judge.ts'
import { bytewiseOffences, parserOffences, PARSERS } from './stream-cut-parser.ts'
import { endIsDone, PLANTED_PARSERS } from './stream-cut-planted.ts'
import { runCuts, someCuts } from './stream-cut-runs.ts'

test.each(VENDOR_DIALECTS)(
  '%s: an answer cut after any byte yields exactly its content so far, in any chunks',
  (dialect) => {
    const answer = cutAnswer(dialect)
    expect(answer.after(answer.bytes.length)).toMatchObject({ calls: 2, done: true })
    expect(parserOffences(answer, PARSERS[dialect])).toEqual([])
    expect(bytewiseOffences(answer, PARSERS[dialect])).toEqual([])
  },
)

test.each(Object.keys(PLANTED_PARSERS))('a parser with the mistake %s is caught', (name) => {
  for (const dialect of VENDOR_DIALECTS) {
    const planted = PLANTED_PARSERS[name]?.(PARSERS[dialect]) ?? PARSERS[dialect]
    expect(parserOffences(cutAnswer(dialect), planted, 1)).not.toEqual([])
  }
})

test('a Turn whose answer is cut ends once with the true status, runs nothing, and the next one works', async () => {
  const folder = await freshFolder()
  const runs = VENDOR_DIALECTS.map((dialect) => {
    const cuts = someCuts(dialect, 211, 1).filter((_, i) => i % 9 === 0)
    expect(cuts.length).toBeGreaterThan(7)
    return runCuts({ dialect, cuts, folder, wholeAfter: 1 })
  })
  expect((await Promise.all(runs)).flat()).toEqual([])
})

test.each(VENDOR_DIALECTS)(
  '%s: a provider that treats the end of a connection as the end of an answer is caught',
  async (dialect) => {
    const { bytes } = cutAnswer(dialect)
    const cuts: Cut[] = [{ bytes: bytes.length - 100, how: 'ended', retries: 0 }]
    const folder = await freshFolder()
    expect(await runCuts({ dialect, cuts, folder, planted: endIsDone })).not.toEqual([])
  },
)

/** One Turn whose answer was cut in its text, one that was retried, and one whose answer was complete. */
let half: Evidence
let again: Evidence
let whole: Evidence

beforeAll(async () => {
  const { bytes, firstShown } = cutAnswer('messages')
  const cuts: Cut[] = [
    { bytes: Math.floor(bytes.length * 0.5), how: 'ended', retries: 0 },
    { bytes: bytes.length, how: 'ended', retries: 0 },
    { bytes: firstShown - 1, how: 'ended', retries: 1 },
  ]
  const seen: Evidence[] = []
  const folder = await freshFolder()
  await runCuts({ dialect: 'messages', cuts, folder, note: (one) => seen.push(one) })
  const [first, second, third] = seen
  if (first === undefined || second === undefined || third === undefined) throw new Error('none')
  half = first
  whole = second
  again = third
})

test('the judge finds no fault in correct Turns, and the Turns had output', () => {
  expect([half, again, whole].flatMap(cutOffences)).toEqual([])
  expect(half.turn.shown[0]?.text).toMatch(/^Ahoï/)
})

type Change = (turn: SeenTurn) => SeenTurn

const DEFECTS: [string, RegExp, Change][] = [
  ['there is no end', /0 ends/, (t) => without(t, 'turn_ended')],
  ['there are two ends', /2 ends/, (t) => ({ ...t, events: [...t.events, ...t.events] })],
  ['a half answer is called whole', /ended as completed/, asCompleted],
  ['what was shown is not kept', /it kept/, (t) => without(t, 'assistant_message')],
  ['what was shown is kept as whole', /it kept/, asWhole],
  ['less was shown than was received', /it showed/, (t) => ({ ...t, shown: [] })],
  ['it was retried although something was shown', /2 tries/, retriedOnce],
  ['a file was written', /made.txt was written/, (t) => ({ ...t, files: { 'made.txt': '' } })],
  ['a half call is recorded', /there is a tool_call/, withCalls],
]

test.each(DEFECTS)('the judge finds that %s', (_, offence, change) => {
  const offences = cutOffences({ ...half, turn: change(half.turn) })
  expect(offences).toContainEqual(expect.stringMatching(offence))
})

test('the judge finds text that a retried Turn showed twice', () => {
  const { text = '', reasoning = '' } = again.turn.shown[1] ?? {}
  const shown = [{ text, reasoning }, ...again.turn.shown.slice(1)]
  const offences = cutOffences({ ...again, turn: { ...again.turn, shown } })
  expect(offences).toContainEqual(expect.stringMatching(/it showed/))
})

test('the judge finds a complete answer whose call did nothing, and a next Turn that failed', () => {
  expect(cutOffences({ ...whole, turn: { ...whole.turn, files: {} } })).toEqual([
    expect.stringMatching(/the files are others/),
  ])
  expect(cutOffences({ ...whole, next: half.turn })).toContainEqual(
    expect.stringMatching(/the next Turn: it ended as failed/),
  )
})

function without(turn: SeenTurn, type: WholeEvent['type']): SeenTurn {
  return { ...turn, events: turn.events.filter((event) => event.type !== type) }
}

function asCompleted(turn: SeenTurn): SeenTurn {
  const events = turn.events.map((event): WholeEvent => {
    if (event.type !== 'turn_ended') return event
    const { usage_total } = event.data
    return { ...event, data: { status: 'completed', usage_total } }
  })
  return { ...turn, events }
}

function asWhole(turn: SeenTurn): SeenTurn {
  const events = turn.events.map((event): WholeEvent => {
    if (event.type !== 'assistant_message') return event
    return { ...event, data: { text: event.data.text } }
  })
  return { ...turn, events }
}

function retriedOnce(turn: SeenTurn): SeenTurn {
  const requests = turn.events.filter(({ type }) => type === 'provider_request')
  return { ...turn, events: [...requests, ...turn.events] }
}

function withCalls(turn: SeenTurn): SeenTurn {
  const calls = whole.turn.events.filter(({ type }) => type === 'tool_call')
  return { ...turn, events: [...calls, ...turn.events] }
}
