import { expect, test } from 'vitest'
import { accessTo } from '../../../test/support/tether/relay-place.ts'
import { systemClock } from '../../host/clock.ts'
import { NO_SPEND, type Spend } from './rules.ts'
import { estimatedUsage, SpendCount } from './spend-count.ts'

const USAGE = { input: 1_000, cached_read: 200, cache_write: 100, output: 50, reasoning: 10 }
const CALL = {
  model: 'model',
  requestBytes: 4_001,
  answerBytes: 399,
  ms: 100,
  lastReport: undefined,
}

test('reported usage is priced, and anything else is estimated and marked', () => {
  const totals: Spend[] = []
  const count = new SpendCount({
    access: accessTo('messages', 'https://example.invalid'),
    models: ['model'],
    spentBefore: NO_SPEND,
    onSpend: (total) => void totals.push(total),
    clock: systemClock,
    log: () => {},
  })
  const usd = (700 * 10 + 200 * 1 + 100 * 12 + 50 * 100) / 1e6
  const cost = count.add({ ...CALL, lastReport: { usage: USAGE, final: true } })
  expect(cost).toEqual({ usd, isEstimate: false })
  const estimate = (1_001 * 10 + 100 * 100) / 1e6
  expect(count.add(CALL)).toEqual({ usd: estimate, isEstimate: true })
  expect(totals).toEqual([
    { calls: 1, usd, estimatedUsd: 0, unpricedCalls: 0 },
    { calls: 2, usd: usd + estimate, estimatedUsd: estimate, unpricedCalls: 0 },
  ])
})

test('calls that run are known with what they may cost, until they have ended', () => {
  const steps: unknown[] = []
  const count = new SpendCount({
    access: accessTo('messages', 'https://example.invalid'),
    models: ['model'],
    spentBefore: NO_SPEND,
    onSpend: ({ calls }) => void steps.push(calls),
    onRunning: (running) => void steps.push(running),
    clock: systemClock,
    log: () => {},
  })
  const ends = [count.begin(CALL), count.begin(CALL)]
  // Its request, and a minute of its answer.
  const usd = (1_001 * 10 + 15_000 * 100) / 1e6
  const one = { calls: 1, usd, unpricedCalls: 0 }
  expect(steps).toEqual([one, { ...one, calls: 2, usd: 2 * usd }])
  count.add(CALL, ends[0])
  ends[0]?.()
  ends[1]?.()
  expect(steps.slice(2)).toEqual([1, one, { ...one, calls: 0, usd: 0 }])
})

test('an estimate is at least what was reported, and at most what the model can do', () => {
  const lastReport = { usage: USAGE, final: false }
  expect(estimatedUsage({ ...CALL, lastReport })).toEqual({ ...USAGE, output: 100 })
  expect(estimatedUsage({ ...CALL, lastReport, answerBytes: 4 })).toEqual(USAGE)
  expect(estimatedUsage({ ...CALL, ms: 4_001 })).toMatchObject({ output: 1_001 })
  const large = { ...CALL, requestBytes: 1e9, answerBytes: 1e9, ms: 1e9 }
  expect(estimatedUsage(large, { window_tokens: 1_000, output_tokens: 100 })).toMatchObject({
    input: 1_000,
    output: 100,
  })
})
