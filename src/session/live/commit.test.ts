import { expect, expectTypeOf, test } from 'vitest'
import { CrashDisk } from '../../../test/support/host/crash-disk.ts'
import { immediateClock, testPlace } from '../../../test/support/log/log-place.ts'
import { KEY_PLACEHOLDER, Redactor } from '../../encoding/redaction.ts'
import { ok } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import { SessionId } from '../../model/ids.ts'
import { RedactedDrafts, turnLog, type CommitStages } from './commit.ts'

const KEY = 'sk-a-key-of-this-test-0123456789'

const DECISION: EventDraft<'permission_decision'> = {
  type: 'permission_decision',
  data: {
    subject: KEY,
    args_sha256: '0'.repeat(64),
    decision: 'denied',
    scope: 'once',
    by: 'person',
    mode: 'ask',
  },
}

const RESULT: EventDraft<'tool_result'> = {
  type: 'tool_result',
  data: { call_id: 'call', name: 'read', outcome: 'ok', output: KEY, duration_ms: 0 },
}

test('results join a commit, keys are redacted, and answers are acknowledged when it is durable', async () => {
  const { place, store } = await testPlace(new CrashDisk(1).folder(), immediateClock)
  const steps: unknown[] = []
  const turn = place.ids.turn()
  const stages: CommitStages = {
    redact: (drafts) => {
      steps.push(['redact', drafts.map(({ type }) => type)])
      return new RedactedDrafts(new Redactor([KEY]), drafts)
    },
    append: async (drafts) => {
      steps.push(['append', drafts.of(turn)])
      return ok(undefined)
    },
  }
  const session = {
    id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
    events: [],
    publish: () => {},
    recordedText: (text: string) => text,
    positionOf: () => undefined,
  }
  const questions = { noteRecord: (...what: unknown[]) => void steps.push(['recorded', ...what]) }
  const resourceNamed = async () => ok(undefined)
  const { log, record } = turnLog(session, {
    ...stages,
    turn,
    store,
    place,
    questions,
    resourceNamed,
  })
  log.results.add(RESULT)
  await log.commit([DECISION])
  const redacted = { ...DECISION, data: { ...DECISION.data, subject: KEY_PLACEHOLDER } }
  const result = { ...RESULT, data: { ...RESULT.data, output: KEY_PLACEHOLDER } }
  expect(steps).toEqual([
    ['redact', ['tool_result', 'permission_decision']],
    ['append', [result, redacted].map((draft) => ({ ...draft, turn_id: turn }))],
    ['recorded', redacted.data, ok(undefined)],
  ])
  log.results.add(RESULT)
  await record([notice('asked', 'A question does not wait for results.')])
  expect(steps.at(-2)).toEqual(['redact', ['notice']])
})

// The compiler checks this: `npm run check` fails if drafts can be appended as they are.
test('only redacted drafts can be appended', () => {
  expectTypeOf<CommitStages['append']>().parameters.toEqualTypeOf<[drafts: RedactedDrafts]>()
  expectTypeOf<readonly EventDraft[]>().not.toExtend<RedactedDrafts>()
})
