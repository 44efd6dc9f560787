import { expect, test } from 'vitest'
import {
  compacted,
  planned,
  talk,
  writtenSession,
  appended,
} from '../../test/support/planned-session.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { TIER_PERCENT } from '../model/limits.ts'
import { isAtLeast, isNews, pressureOf, tierOf, TIER_NOTICES } from './pressure.ts'

const WINDOW = { window_tokens: 200_000 }

test.each([
  [0, 'none'],
  [139_800, 'none'],
  [139_999, 'none'],
  [140_000, 'advisory'],
  [159_800, 'advisory'],
  [159_999, 'advisory'],
  [160_000, 'warning'],
  [180_000, 'warning'],
  [180_001, 'critical'],
  [180_200, 'critical'],
  [200_000, 'critical'],
  [250_000, 'critical'],
])('[PC-050] [PC-051] %i of 200,000 tokens are the tier %s', (input, tier) => {
  expect(pressureOf({ input }, WINDOW)).toEqual({ tier, ratio: input / 200_000, ...WINDOW })
})

test.each([
  [69.9, 'none'],
  [70, 'advisory'],
  [79.9, 'advisory'],
  [80, 'warning'],
  [90, 'warning'],
  [90.1, 'critical'],
])(
  '[PC-050] [PC-051] [PC-052] [PC-054] %f percent of any window is the tier %s',
  (percent, tier) => {
    for (const window_tokens of [1_000, 32_000, 128_000, 200_000, 1_000_000, 1_048_000])
      expect(tierOf((window_tokens * percent) / 100, window_tokens)).toBe(tier)
  },
)

test('a limit that is not a whole number of tokens is not rounded', () => {
  const tierAt = (input: number) => pressureOf({ input }, { window_tokens: 7 })
  expect(tierAt(4)).toMatchObject({ tier: 'none' })
  expect(tierAt(5)).toMatchObject({ tier: 'advisory' })
  expect(tierAt(6)).toMatchObject({ tier: 'warning' })
  expect(tierAt(7)).toMatchObject({ tier: 'critical' })
})

test('the pressure of a model without a known window is unavailable', () => {
  expect(pressureOf({ input: 1 }, undefined)).toBe('unavailable')
  expect(pressureOf({ input: 1 }, {})).toBe('unavailable')
})

test('[PC-071] the limits are kept in one place and can be set; out of order, the highest tier counts', () => {
  expect(TIER_PERCENT).toEqual({ advisory: 70, warning: 80, critical: 90 })
  const limits = { advisory: 10, warning: 20, critical: 30 }
  expect([9, 10, 20, 30, 31].map((tokens) => tierOf(tokens, 100, limits))).toEqual([
    'none',
    'advisory',
    'warning',
    'warning',
    'critical',
  ])
  const mixed = { advisory: 80, warning: 50, critical: 90 }
  expect([49, 50, 85, 91].map((tokens) => tierOf(tokens, 100, mixed))).toEqual([
    'none',
    'warning',
    'warning',
    'critical',
  ])
})

test('tiers are ordered', () => {
  expect(isAtLeast('warning', 'advisory')).toBe(true)
  expect(isAtLeast('advisory', 'advisory')).toBe(true)
  expect(isAtLeast('none', 'advisory')).toBe(false)
})

const SESSION = writtenSession(talk(20))

function announced(events: readonly WholeEvent[], tier: keyof typeof TIER_NOTICES): WholeEvent[] {
  const draft: EventDraft = { type: 'notice', data: { code: TIER_NOTICES[tier], text: tier } }
  return appended(events, [draft])
}

test('[PC-053] a tier is announced once, and not after a higher one', () => {
  expect(isNews(SESSION, 'none')).toBe(false)
  expect(isNews(SESSION, 'advisory')).toBe(true)
  const warned = announced(announced(SESSION, 'advisory'), 'warning')
  expect(
    ['advisory', 'warning', 'critical'].map((tier) => isNews(warned, tier as 'advisory')),
  ).toEqual([false, false, true])
})

test('[PC-053] a checkpoint begins a new range, and an undo returns to the earlier one', () => {
  const warned = announced(SESSION, 'warning')
  const checkpoint = compacted(warned, planned(warned).data)
  expect(isNews(checkpoint, 'advisory')).toBe(true)
  const again = announced(checkpoint, 'advisory')
  expect([isNews(again, 'advisory'), isNews(again, 'warning')]).toEqual([false, true])
  const { id } = checkpoint.at(-1) ?? {}
  if (id === undefined) throw new Error('no checkpoint')
  const undone = appended(again, [
    { type: 'compaction_undone', data: { compaction_event_id: id, reason: 'manual' } },
  ])
  expect([isNews(undone, 'warning'), isNews(undone, 'critical')]).toEqual([false, true])
})
