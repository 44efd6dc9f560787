import { beforeAll, expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { ResendKillRuns, resendOffences, type ResendEvidence } from './resend-kill-runs.ts'
import type { Action } from './turn-kill-scene.ts'

let runs: ResendKillRuns
let resent: ResendEvidence

beforeAll(async () => {
  runs = await ResendKillRuns.prepare(await freshFolder())
  resent = (await runs.trial([{ at: 'answer', n: 1 }])).evidence
})

/** `npm run test:faults -- resend-kill` kills at every moment. */
test('a message killed before anything was shown, and again while it continues, is answered once', async () => {
  for (const second of ['line', 'half', 'written'] as const) {
    const { violations } = await runs.trial([
      { at: 'answer', n: 1 },
      { at: second, n: 1 },
    ])
    expect(violations).toEqual([])
  }
  expect(resendOffences(resent)).toEqual([])
  const status = (e: WholeEvent) => (e.type === 'turn_ended' ? [e.data.status] : [])
  expect(resent.events.flatMap(status)).toEqual(['completed'])
})

test('a message whose tool ran, or of which something was shown, is not sent again', async () => {
  for (const at of ['run', 'ran'] as const)
    expect((await runs.trial([{ at, n: 1 }])).violations).toEqual([])
})

test('the judge finds a harness that sends again what was shown', async () => {
  // The text before the first call of the model was shown, but not recorded.
  const { violations } = await runs.trial([{ at: 'answer', n: 2 }], true)
  expect(violations).toContainEqual(expect.stringMatching(/sent again after it was shown/))
})

const again = ({ actions }: ResendEvidence): Action[] => {
  const first = actions.find(({ what }) => what === 'sent')
  return first === undefined ? [] : [...actions, first]
}

const last = ({ events }: ResendEvidence, type: WholeEvent['type']): WholeEvent[] =>
  events.filter((event) => event.type === type).slice(-1)

const notices = ({ events }: ResendEvidence): WholeEvent[] =>
  events.filter((e) => e.type === 'notice' && e.data.code === 'resent_after_crash')

const DEFECTS: [string, RegExp, (evidence: ResendEvidence) => ResendEvidence][] = [
  ['sent again after a tool ran', /after a tool ran/, (e) => ({ ...e, actions: again(e) })],
  ['sent again without a notice', /without a notice/, (e) => ({ ...e, actions: again(e) })],
  [
    'a second Turn',
    /2 Turns/,
    (e) => ({
      ...e,
      events: [...e.events, ...last(e, 'turn_started'), ...last(e, 'user_message')],
    }),
  ],
  ['a second end', /2 ends/, (e) => ({ ...e, events: [...e.events, ...last(e, 'turn_ended')] })],
  [
    'a Turn that went on after an answer',
    /went on after an answer/,
    (e) => ({ ...e, events: [...e.events, ...notices(e)] }),
  ],
  [
    'a Turn that went on too often',
    /went on 3 times/,
    (e) => ({ ...e, events: [...notices(e), ...notices(e), ...e.events].toSorted(bySeq) }),
  ],
]

const bySeq = (a: WholeEvent, b: WholeEvent) => a.seq - b.seq

test.each(DEFECTS)('the judge finds %s', (_, offence, change) => {
  expect(resendOffences(change(resent))).toContainEqual(expect.stringMatching(offence))
})
