import { expect, test } from 'vitest'
import { nearest } from './nearest.ts'

const WORDS = ['limits.provider_calls', 'permission', 'model']

test.each([
  ['modle', 'model'],
  ['PERMISSION', 'permission'],
  ['provider_call', 'limits.provider_calls'],
  ['zzzz', undefined],
])('%s suggests %s', (typed, expected) => {
  expect(nearest(typed, WORDS)).toBe(expected)
})
