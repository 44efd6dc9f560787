import { expect, test } from 'vitest'
import {
  compacted,
  planned,
  talk,
  writtenSession,
  appended,
} from '../../test/support/pressure/planned-session.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import { TIER_PERCENT } from '../model/limits.ts'
import {
  FRUITLESS_NOTICE,
  isAtLeast,
  isEstimateNews,
  isFruitlessNews,
  isUsageNews,
  pressureOf,
  tierOf,
  TIER_NOTICES,
} from './pressure.ts'

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

/** A call whose usage reached a tier, and whether that was announced. */
function used(
  events: readonly WholeEvent[],
  tier: keyof typeof TIER_NOTICES,
  notice: boolean,
): WholeEvent[] {
  const pressure = { tier, ratio: 0.5, window_tokens: 100, ...(notice ? { notice } : {}) }
  const usage = { input: 50, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
  const data = { call_index: 0, usage, latency_ms: 1, pressure, stop_reason: 'end' }
  const recorded = appended(events, [{ type: 'provider_usage', data }])
  return notice ? announced(recorded, tier) : recorded
}

const TIERS = ['advisory', 'warning', 'critical'] as const

test('[PC-053] the estimate of a tier is announced once, and not after a higher one', () => {
  expect(isEstimateNews(SESSION, 'none')).toBe(false)
  expect(isEstimateNews(SESSION, 'advisory')).toBe(true)
  const warned = announced(announced(SESSION, 'advisory'), 'warning')
  expect(TIERS.map((tier) => isEstimateNews(warned, tier))).toEqual([false, false, true])
  const recorded = used(SESSION, 'warning', true)
  expect(TIERS.map((tier) => isEstimateNews(recorded, tier))).toEqual([false, false, true])
})

test('[PC-053] a usage is announced once for each tier, unless its own estimate was right and below critical', () => {
  expect(isUsageNews(SESSION, 'none')).toBe(false)
  expect(TIERS.map((tier) => isUsageNews(SESSION, tier))).toEqual([true, true, true])
  const recorded = used(SESSION, 'warning', true)
  expect(TIERS.map((tier) => isUsageNews(recorded, tier))).toEqual([false, false, true])
  const estimated = announced(SESSION, 'critical')
  expect(TIERS.map((tier) => isUsageNews(estimated, tier))).toEqual([true, true, true])
  const expected = announced(SESSION, 'warning')
  expect(TIERS.map((tier) => isUsageNews(expected, tier))).toEqual([true, false, true])
  const confirmed = used(expected, 'warning', false)
  expect(TIERS.map((tier) => isUsageNews(confirmed, tier))).toEqual([false, false, true])
  const wrong = used(expected, 'advisory', true)
  expect(TIERS.map((tier) => isUsageNews(wrong, tier))).toEqual([false, true, true])
})

test('a fruitless preflight is announced once, until a usage is lower', () => {
  const code = FRUITLESS_NOTICE
  const critical = used(SESSION, 'critical', true)
  expect(isFruitlessNews(critical)).toBe(true)
  const said = appended(critical, [{ type: 'notice', data: { code, text: 'full' } }])
  expect(isFruitlessNews(said)).toBe(false)
  const still = used(said, 'critical', false)
  expect(isFruitlessNews(still)).toBe(false)
  const lower = used(still, 'warning', true)
  expect(isFruitlessNews(used(lower, 'critical', false))).toBe(true)
  expect(isFruitlessNews(compacted(said, planned(said).data))).toBe(true)
})

test('[PC-053] a checkpoint begins a new range, and an undo returns to the earlier one', () => {
  const warned = announced(SESSION, 'warning')
  const checkpoint = compacted(warned, planned(warned).data)
  expect(isEstimateNews(checkpoint, 'advisory')).toBe(true)
  const again = announced(checkpoint, 'advisory')
  expect([isEstimateNews(again, 'advisory'), isEstimateNews(again, 'warning')]).toEqual([
    false,
    true,
  ])
  const { id } = checkpoint.at(-1) ?? {}
  if (id === undefined) throw new Error('no checkpoint')
  const undone = appended(again, [
    { type: 'compaction_undone', data: { compaction_event_id: id, reason: 'manual' } },
  ])
  expect([isEstimateNews(undone, 'warning'), isEstimateNews(undone, 'critical')]).toEqual([
    false,
    true,
  ])
})
