import { expect, test } from 'vitest'
import { redacted } from './redact.ts'

const KEYS = ['sk-canary-1234', 'other-canary-5678']

test('a key is taken out of texts, lists and names, and nothing else is changed', () => {
  const value = {
    text: 'use sk-canary-1234, or sk-canary-1234',
    list: ['other-canary-5678', 7, null],
    'named sk-canary-1234': { deep: { inside: 'other-canary-5678!' } },
    plain: 'sk-canary',
  }
  expect(redacted(value, KEYS)).toEqual({
    text: 'use [key], or [key]',
    list: ['[key]', 7, null],
    'named [key]': { deep: { inside: '[key]!' } },
    plain: 'sk-canary',
  })
})

test('a value without a key is given back as it is', () => {
  const value = { text: 'nothing here', list: [1, { a: 'b' }] }
  expect(redacted(value, KEYS)).toBe(value)
  expect(redacted(value, [])).toBe(value)
})
