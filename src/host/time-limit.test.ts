import { expect, test } from 'vitest'
import { withinTime } from './time-limit.ts'

const NEVER_ENDS = 24 * 60 * 60 * 1000

test('work that ends in time is done', () => {
  const done: string[] = []
  expect(withinTime(NEVER_ENDS, () => void done.push('moored'))).toBe(true)
  expect(done).toEqual(['moored'])
})

test('an endless search by a regular expression is stopped, and what was done before it stays', () => {
  const done: string[] = []
  const finished = withinTime(500, () => {
    done.push('before')
    done.push(String(/^(a+)+$/.test(`${'a'.repeat(200)}b`)))
  })
  expect(finished).toBe(false)
  expect(done).toEqual(['before'])
})

test('a defect of the work is thrown as it is', () => {
  const defect = new TypeError('a defect')
  expect(() =>
    withinTime(NEVER_ENDS, () => {
      throw defect
    }),
  ).toThrow(defect)
})
