import { expect, test } from 'vitest'
import {
  PLAN_SURFACE,
  talk,
  writtenSession,
  writtenTurn,
  type WrittenTurn,
} from '../../test/support/pressure/planned-session.ts'
import { sampleDescriptor } from '../../test/support/history/sample-resources.ts'
import type { EventDraft } from '../model/events/event.ts'
import { planPreflight, planRecovery, type TurnPlanOptions } from './recovery-plan.ts'

const LONG = 'line of a file\n'.repeat(600)
const HUGE = 'line of a file\n'.repeat(20_000)

function options(active: number, more: Partial<TurnPlanOptions> = {}): TurnPlanOptions {
  const trigger = 'overflow_recovery'
  return { trigger, surface: PLAN_SURFACE, active: writtenTurn(active), window: 20_000, ...more }
}

function running(turn: WrittenTurn): WrittenTurn {
  return { ...turn, open: true }
}

test('a preflight aims at the target of a compaction by hand, or else below the advisory tier', () => {
  const short = writtenSession([...talk(20), running({})])
  expect(planPreflight(short, options(21))).toMatchObject({ compactable: true, target: 8_000 })
  const own = running({ request: 'why '.repeat(10_000) })
  const long = writtenSession([...talk(20), own])
  expect(planPreflight(long, options(21))).toMatchObject({ compactable: true, target: 14_000 })
  const limits = { advisory: 40, warning: 80, critical: 90 }
  expect(planPreflight(long, options(21, { limits }))).toMatchObject({ compactable: false })
})

test('a preflight keeps outputs that the model has not read; a recovery turns them into pointers if it must', () => {
  const events = writtenSession([...talk(3), running({ rounds: [[LONG], [HUGE]] })])
  expect(planPreflight(events, options(4))).toMatchObject({ compactable: false })
  const plan = planRecovery(events, options(4))
  expect(plan.compactable).toBe(true)
  if (!plan.compactable) return
  expect(plan.data.elided?.before_seq).toBe(events.length)
  expect(plan.data.tokens_after).toBeLessThanOrEqual(plan.target)
})

test('a recovery accepts what saves most, even if it reaches no target', () => {
  const own = running({ request: 'why '.repeat(40_000) })
  const events = writtenSession([...talk(6), own])
  expect(planPreflight(events, options(7))).toMatchObject({ compactable: false })
  const plan = planRecovery(events, options(7))
  expect(plan.compactable && plan.data.tail.turns).toBe(1)
  expect(plan.compactable && plan.data.tokens_after > plan.target).toBe(true)
  const alone = writtenSession([own])
  expect(planRecovery(alone, options(1))).toMatchObject({
    compactable: false,
    reason: 'nothing_to_compact',
  })
})

test('a target after a refusal is aimed at', () => {
  const events = writtenSession([...talk(30), running({})])
  const plan = planRecovery(events, options(31, { target: 3_500 }))
  expect(plan.compactable && plan.data.tokens_after).toBeLessThanOrEqual(3_500)
})

test('outputs of a Turn that is the only one become pointers, however many bytes there are', () => {
  const rounds = Array.from({ length: 20 }, () => [HUGE])
  const events = writtenSession([running({ rounds })])
  const plan = planRecovery(events, options(1, { window: 200_000 }))
  expect(plan.compactable && plan.data.strategy).toBe('elide')
})

test('a Turn whose attachments the active one carries is not summarised', () => {
  const image = sampleDescriptor('@img1')
  const attached: EventDraft = {
    type: 'user_message',
    data: { text: 'Look.', prompt_mode: 'blocks', resources: [image] },
  }
  const ended: EventDraft = {
    type: 'turn_ended',
    data: {
      status: 'interrupted',
      usage_total: { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 },
    },
  }
  const turns = [...talk(20), { more: [attached, ended], open: true }, running({})]
  const events = writtenSession(turns)
  const start = events.find(
    ({ type, turn_id }) => type === 'turn_started' && turn_id === writtenTurn(21),
  )
  const plan = planRecovery(events, options(22, { target: 1 }))
  expect(plan.compactable && plan.data.tail.from_seq).toBe(start?.seq)
})
