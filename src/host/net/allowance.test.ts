import { expect, test } from 'vitest'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { Allowance } from './allowance.ts'

test('as many as the burst at once, then as many as the rate, and never more than the burst', () => {
  const clock = virtualClock()
  const allowance = new Allowance(3, 2, clock)
  const taken = (tries: number) =>
    Array.from({ length: tries }, () => allowance.take()).filter(Boolean).length
  expect(taken(5)).toBe(3)
  clock.advance(499)
  expect(taken(2)).toBe(0)
  clock.advance(1)
  expect(taken(2)).toBe(1)
  clock.advance(60_000)
  expect(taken(9)).toBe(3)
})
