import { expect, test } from 'vitest'
import { costOf } from './cost.ts'

const USAGE = {
  input: 1_000_000,
  cached_read: 600_000,
  cache_write: 100_000,
  output: 10_000,
  reasoning: 0,
}

test('each kind of token has its price, and cached ones are not charged twice', () => {
  const prices = { input: 4, output: 20, cached_read: 0.4, cache_write: 5 }
  expect(costOf(USAGE, prices)).toBeCloseTo(0.3 * 4 + 0.6 * 0.4 + 0.1 * 5 + 0.01 * 20, 9)
})

test('a cost with an unknown price is unknown', () => {
  expect(costOf(USAGE, undefined)).toBeUndefined()
  expect(costOf(USAGE, { input: 4, output: 20, cached_read: 0.4 })).toBeUndefined()
  const uncached = { ...USAGE, cached_read: 0, cache_write: 0 }
  expect(costOf(uncached, { input: 4, output: 20 })).toBeCloseTo(4.2, 9)
})
