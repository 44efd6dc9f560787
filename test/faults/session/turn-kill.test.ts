import { beforeAll, expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { offencesIn, type Evidence, type ReadLine } from './turn-kill-judge.ts'
import { TurnKillRuns } from './turn-kill-runs.ts'
import { QUICK_DEATHS, type Action } from './turn-kill-scene.ts'

let runs: TurnKillRuns
let whole: Evidence

/** Killed when the third tool has run and its result is not recorded. */
const AFTER_A_RUN = [{ at: 'ran', n: 3 }] as const

beforeAll(async () => {
  runs = await TurnKillRuns.prepare(await freshFolder())
  whole = (await runs.trial(AFTER_A_RUN)).evidence
})

test('a Turn killed before a call, after one, or during a write leaves a true Log, and the next one works', async () => {
  const moments = ['run', 'ran', 'half']
  const deaths = QUICK_DEATHS.filter(
    ([death, second]) => second === undefined && moments.includes(death?.at ?? ''),
  )
  const { violations, by } = await runs.kill(deaths)
  expect(violations).toEqual([])
  expect(new Set(by.keys())).toEqual(new Set(moments))
})

test('the killed Turn makes ten calls', async () => {
  expect((await runs.trial([{ at: 'ran', n: 10 }])).died).toBe(true)
  expect((await runs.trial([{ at: 'ran', n: 11 }])).died).toBe(false)
})

test('the judge finds no fault in a correct Log', () => {
  expect(offencesIn(whole)).toEqual([])
})

const DEFECTS: [string, RegExp, (evidence: Evidence) => Evidence][] = [
  [
    'a line is lost',
    /99 was durable/,
    (e) => ({ ...e, durable: new Map([...e.durable, [99, 'x']]) }),
  ],
  ['a line is different', /4 was read/, (e) => changeLast(e, 4, (l) => [{ ...l, hash: 'other' }])],
  ['a call has no result', /has 0 results/, (e) => changeLast(e, unknownIn(e), () => [])],
  ['a call has two results', /has 2 results/, (e) => changeLast(e, unknownIn(e), (l) => [l, l])],
  [
    'an unknown call is recorded as done',
    /is ok, not unknown/,
    (e) => changeLast(e, unknownIn(e), asDone),
  ],
  [
    'a known result is recorded as unknown',
    /unknown, not ok/,
    (e) => onFirst(e, 'tool_result', asUnknown),
  ],
  ['a result has no call', /has no call/, (e) => onFirst(e, 'tool_call', () => [])],
  ['a Turn has no end', /has no end/, (e) => onFirst(e, 'turn_ended', () => [])],
  ['a Turn has two ends', /has 2 ends/, (e) => onFirst(e, 'turn_ended', (l) => [l, l])],
  ['a crash is not recorded', /ended as/, (e) => onFirst(e, 'turn_ended', asCompleted)],
  ['usage is missing', /usage wrongly/, (e) => onFirst(e, 'provider_usage', () => [])],
  ['a request is sent twice', /sent 2 times/, (e) => ({ ...e, actions: again(e, 'sent') })],
  ['a tool runs twice', /called 1 times and ran 2/, (e) => ({ ...e, actions: again(e, 'start') })],
  ['a tool never ran', /recorded 1 times and ran 0/, (e) => ({ ...e, actions: [] })],
  [
    'a Turn is finished by another process',
    /did not request/,
    (e) => ({ ...e, actions: byNext(e) }),
  ],
  ['a call was not permitted', /without permission/, (e) => without(e, 'permission_decision')],
  ['a request was not recorded', /does not have/, (e) => without(e, 'provider_request')],
  ['an effect is missing', /recorded 1 times and found 0/, (e) => withEffects(e, 0)],
  ['an effect happened twice', /ran 1 times and found 2/, (e) => withEffects(e, 2)],
  ['an effect has no call', /called 0 times and found 1/, (e) => withEffects(e, 1)],
]

test.each(DEFECTS)('the judge finds that %s', (_, offence, change) => {
  expect(offencesIn(change(whole))).toContainEqual(expect.stringMatching(offence))
})

test('the judge finds the tool that a harness runs twice', async () => {
  const { violations } = await runs.trial(AFTER_A_RUN, true)
  expect(violations).toContainEqual(expect.stringMatching(/called 1 times and ran 2/))
})

function changeLast(
  { readings, ...rest }: Evidence,
  seq: number,
  change: (line: ReadLine) => readonly ReadLine[],
): Evidence {
  const last = (readings.at(-1) ?? []).flatMap((line) =>
    line.event.seq === seq ? change(line) : [line],
  )
  return { ...rest, readings: [...readings.slice(0, -1), last] }
}

function onFirst(
  evidence: Evidence,
  type: WholeEvent['type'],
  change: (line: ReadLine) => readonly ReadLine[],
): Evidence {
  const first = evidence.readings.at(-1)?.find(({ event }) => event.type === type)
  return changeLast(evidence, first?.event.seq ?? -1, change)
}

function without({ readings, ...rest }: Evidence, type: WholeEvent['type']): Evidence {
  const left = readings.map((reading) => reading.filter(({ event }) => event.type !== type))
  return { ...rest, readings: left }
}

function again({ actions }: Evidence, what: Action['what']): Action[] {
  return [...actions, ...actions.filter((action) => action.what === what).slice(0, 1)]
}

function byNext({ actions }: Evidence): Action[] {
  return actions.map((action) => ({ ...action, by: 1 }))
}

function withEffects(evidence: Evidence, times: number): Evidence {
  return { ...evidence, effects: new Map([...evidence.effects.keys()].map((key) => [key, times])) }
}

function unknownIn({ readings }: Evidence): number {
  const isUnknown = ({ event }: ReadLine) =>
    event.type === 'tool_result' && event.data.outcome === 'unknown'
  return readings.at(-1)?.find(isUnknown)?.event.seq ?? -1
}

function asDone(line: ReadLine): ReadLine[] {
  return [{ ...line, event: withOutcome(line.event, 'ok') }]
}

function asUnknown(line: ReadLine): ReadLine[] {
  return [{ ...line, event: withOutcome(line.event, 'unknown') }]
}

function withOutcome(event: WholeEvent, outcome: 'ok' | 'unknown'): WholeEvent {
  return event.type === 'tool_result' ? { ...event, data: { ...event.data, outcome } } : event
}

function asCompleted(line: ReadLine): ReadLine[] {
  const { event } = line
  if (event.type !== 'turn_ended') return [line]
  const { usage_total } = event.data
  return [{ ...line, event: { ...event, data: { status: 'completed', usage_total } } }]
}
