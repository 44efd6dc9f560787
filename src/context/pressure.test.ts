import { expect, test } from 'vitest'
import { pressureOf } from './pressure.ts'

const WINDOW = { window_tokens: 200_000 }

test.each([
  [0, 'none'],
  [139_999, 'none'],
  [140_000, 'advisory'],
  [159_999, 'advisory'],
  [160_000, 'warning'],
  [180_000, 'warning'],
  [180_001, 'critical'],
  [200_000, 'critical'],
  [250_000, 'critical'],
])('%i of 200,000 tokens are the tier %s', (input, tier) => {
  expect(pressureOf({ input }, WINDOW)).toEqual({ tier, ratio: input / 200_000, ...WINDOW })
})

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
