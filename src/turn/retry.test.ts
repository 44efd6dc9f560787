import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ERROR_KINDS, failed, withCause, type ErrorKind } from '../model/errors.ts'
import { retryIn } from './retry.ts'

function after(kind: ErrorKind, attempt: number, chance = 0, requested = {}) {
  const { error } = withCause(failed(kind, 'x'), { type: 'provider', ...requested })
  return retryIn(error, { attempt, invalid: 0 }, { retries: 4, chance: () => chance })
}

test('an unreadable answer is retried once, whatever failed before it', () => {
  const { error } = failed('invalid_response', 'x')
  const waits = [0, 1].map((invalid) =>
    retryIn(error, { attempt: 2, invalid }, { retries: 4, chance: () => 0 }),
  )
  expect(waits).toEqual([1000, undefined])
})

test('only transient failures are retried', () => {
  expect(ERROR_KINDS.filter((kind) => after(kind, 0) !== undefined)).toEqual([
    'rate_limited',
    'overloaded',
    'network',
    'stream_idle',
    'invalid_response',
  ])
})

test('delays double up to a maximum, and the number of attempts is limited', () => {
  const waits = [0, 1, 2, 3, 4].map((attempt) => after('overloaded', attempt))
  expect(waits).toEqual([250, 500, 1000, 2000, undefined])
  expect([0, 1, 2, 3].map((attempt) => after('overloaded', attempt, 1))).toEqual([
    500, 1000, 2000, 4000,
  ])
})

test('the delay that the server requests is a minimum, and an excessive one is not waited for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300_000 }),
      fc.integer({ min: 0, max: 3 }),
      fc.float({ min: 0, max: 1, noNaN: true }),
      (retryAfterMs, attempt, chance) => {
        const ms = after('rate_limited', attempt, chance, { retryAfterMs }) ?? -1
        expect(ms).toBeGreaterThanOrEqual(retryAfterMs)
        expect(ms).toBeLessThanOrEqual(Math.max(8_000, retryAfterMs + 4_000))
      },
    ),
  )
  expect(after('rate_limited', 0, 0, { retryAfterMs: 300_001 })).toBeUndefined()
})
