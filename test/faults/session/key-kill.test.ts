import { beforeAll, expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { keyOffences, KeyKillRuns, type KeyEvidence, type KeyTrial } from './key-kill-runs.ts'

/** Killed early, so that the next process runs the message; and late, so that it has run. */
let early: KeyTrial
let late: KeyTrial

beforeAll(async () => {
  const runs = await KeyKillRuns.prepare(await freshFolder())
  early = await runs.trial('resumed', [1])
  late = await runs.trial('resumed', [60])
})

test('a message with a key runs once if its process is killed before it or during it', () => {
  expect([early.recorded, early.violations]).toEqual([false, []])
  expect([late.recorded, late.violations]).toEqual([true, []])
})

const DEFECTS: [string, RegExp, (evidence: KeyEvidence) => KeyEvidence][] = [
  ['the message is lost', /0 Turns/, (e) => without(e, 'user_message')],
  ['the message is recorded twice', /2 Turns/, twice],
  ['another Turn had the message', /not the one/, (e) => ({ ...e, before: [otherTurn(e)] })],
  ['a Turn has no end', /has 0 ends/, (e) => without(e, 'turn_ended')],
  [
    'the tool runs twice',
    /ran 2 times/,
    (e) => ({ ...e, actions: [1, 2].map((by) => ({ by, what: 'start', of: 'write' }) as const) }),
  ],
  ['a process has no answer', /no answer/, (e) => ({ ...e, answers: [] })],
  [
    'an answer names another Turn',
    /another Turn/,
    (e) => ({ ...e, answers: e.answers.map((one) => ({ ...one, turn: otherTurn(e) })) }),
  ],
  [
    'an answer names another end',
    /another end/,
    (e) => ({ ...e, answers: e.answers.map((one) => ({ ...one, ended: {} })) }),
  ],
  [
    'a repeated message counts as new',
    /repeated is false/,
    (e) => ({ ...e, answers: e.answers.map((one) => ({ ...one, repeated: false })) }),
  ],
  [
    'a new message counts as repeated',
    /repeated is true/,
    (e) => ({ ...e, before: [], answers: e.answers.map((one) => ({ ...one, repeated: true })) }),
  ],
]

test.each(DEFECTS)('the judge finds that %s', (_, offence, change) => {
  expect(keyOffences(late.evidence)).toEqual([])
  expect(keyOffences(change(late.evidence))).toContainEqual(expect.stringMatching(offence))
})

function without(evidence: KeyEvidence, type: WholeEvent['type']): KeyEvidence {
  return { ...evidence, events: evidence.events.filter((event) => event.type !== type) }
}

function twice(evidence: KeyEvidence): KeyEvidence {
  const message = evidence.events.findLast(({ type }) => type === 'user_message')
  return { ...evidence, events: [...evidence.events, ...(message === undefined ? [] : [message])] }
}

/** The Turn before the message with the key. */
function otherTurn({ events }: KeyEvidence) {
  const turn = events.find(({ type }) => type === 'turn_started')?.turn_id
  if (turn === undefined) throw new Error('no Turn')
  return turn
}
