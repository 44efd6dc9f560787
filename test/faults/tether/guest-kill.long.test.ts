import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { random } from '../../support/host/random.ts'
import { guestOffences, GuestKillRuns, type GuestEvidence } from './guest-kill-runs.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()

/** `npm run test:faults -- guest-kill` kills 200 guests. */
test.runIf(status.isConfined && status.nests === true)(
  'messages run once and end once, however often their guest is killed',
  async () => {
    const runs = await GuestKillRuns.prepare(await freshFolder(), random(7))
    const { violations, evidence } = await runs.trial(4)
    expect(violations).toEqual([])
    for (const [offence, change] of DEFECTS)
      expect(guestOffences(change(evidence))).toContainEqual(expect.stringMatching(offence))
  },
)

/** What the judge must find. */
const DEFECTS: [RegExp, (evidence: GuestEvidence) => GuestEvidence][] = [
  [/m1: 0 Turns/, (e) => ({ ...e, events: [] })],
  [/m1: 2 Turns/, (e) => ({ ...e, events: [...e.events, ...e.events] })],
  [
    /m1: 0 ends in the Log/,
    (e) => ({ ...e, events: e.events.filter(({ type }) => type !== 'turn_ended') }),
  ],
  [/m1: 0 terminal frames/, (e) => ({ ...e, frames: [] })],
  [/m1: 2 terminal frames/, (e) => ({ ...e, frames: [...e.frames, ...e.frames] })],
  [
    /m1: went on after an answer/,
    (e) => ({ ...e, events: e.events.flatMap((event) => [event, ...continuedAfter(event)]) }),
  ],
  [/m1: ran 2 times/, (e) => ({ ...e, effects: ['m1', 'm1'] })],
]

/** As a harness would record it that continues a Turn after a tool ran. */
function continuedAfter(event: WholeEvent): WholeEvent[] {
  if (event.type !== 'tool_result') return []
  return [{ ...event, type: 'notice', data: { code: 'resent_after_crash', text: '' } }]
}
