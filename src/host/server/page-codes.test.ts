import { expect, test } from 'vitest'
import { virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { pageCodes } from './page-codes.ts'
import { newSecret } from './secret.ts'

test('a code works once, and a wrong one does not use it up', () => {
  const codes = pageCodes(virtualClock())
  const code = codes.issue()
  expect(code).toMatch(/^[\w-]{43}$/)
  const wrong = ['', code.slice(1), `${code}x`, code.toLowerCase(), newSecret(), 'é'.repeat(43)]
  expect(wrong.map((one) => codes.redeem(one))).toEqual(wrong.map(() => false))
  expect([codes.redeem(code), codes.redeem(code)]).toEqual([true, false])
})

test('a code expires after 60 seconds', () => {
  const clock = virtualClock()
  const codes = pageCodes(clock)
  const early = codes.issue()
  clock.advance(59_999)
  expect(codes.redeem(early)).toBe(true)
  const late = codes.issue()
  clock.advance(60_000)
  expect(codes.redeem(late)).toBe(false)
})

test('only the latest code works, and only where it was issued', () => {
  const [one, other] = [pageCodes(virtualClock()), pageCodes(virtualClock())]
  const first = one.issue()
  const second = one.issue()
  expect([one.redeem(''), other.redeem(second), one.redeem(first), one.redeem(second)]).toEqual([
    false,
    false,
    false,
    true,
  ])
})
