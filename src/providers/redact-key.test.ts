import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { CAUSE } from '../model/error-cause.ts'
import { failed, withCause } from '../model/errors.ts'
import { redactKey } from './redact-key.ts'

const KEY = 'sk-live-4f9a77c0d2e8b1a6'

function hidden(text: string, key: string | undefined = KEY): string {
  return redactKey(failed('auth', text).error, key).message
}

test('a key is hidden anywhere in the message and in all details', () => {
  const error = failed('auth', `Wrong key ${KEY}, ${KEY}!`, {
    code: KEY,
    deep: [{ said: `Bearer ${KEY}` }],
    status: 401,
  })
  expect(redactKey(error.error, KEY)).toEqual({
    kind: 'auth',
    message: 'Wrong key [redacted key], [redacted key]!',
    details: { code: '[redacted key]', deep: [{ said: 'Bearer [redacted key]' }], status: 401 },
    next_actions: [],
  })
})

test('a key is hidden in text of a vendor that a cause repeats', () => {
  const cause = { type: 'provider', code: KEY, status: 400, refusedMedia: { at: KEY } } as const
  const error = redactKey(withCause(failed('auth', 'No.'), cause).error, KEY)
  expect(error[CAUSE]).toEqual({
    type: 'provider',
    code: '[redacted key]',
    status: 400,
    refusedMedia: { at: '[redacted key]' },
  })
})

test('a recognisable part of a key is hidden, with the masked rest', () => {
  expect(hidden('Incorrect API key: sk-live-*******b1a6.')).toBe(
    'Incorrect API key: [redacted key].',
  )
  expect(hidden('Key sk-live-4f9a... is off')).toBe('Key [redacted key] is off')
  expect(hidden('It ends with d2e8b1a6')).toBe('It ends with [redacted key]')
  expect(hidden('sk-live is short enough')).toBe('sk-live is short enough')
})

test('no eight consecutive characters of a key remain', () => {
  const part = fc.tuple(fc.nat(KEY.length), fc.nat(KEY.length)).map(([a, b]) => KEY.slice(a, b))
  const text = fc
    .array(fc.oneof(part, fc.string({ maxLength: 5 })))
    .map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, (said) => {
      const left = hidden(said)
      const parts = Array.from({ length: KEY.length - 7 }, (_, at) => KEY.slice(at, at + 8))
      expect(parts.filter((one) => left.includes(one))).toEqual([])
    }),
  )
})

test('without a key, or with one that is too short, nothing is hidden', () => {
  const error = failed('auth', 'none is not a key', { a: 'none' }).error
  expect(redactKey(error, undefined)).toBe(error)
  expect(redactKey(error, 'none')).toBe(error)
})
