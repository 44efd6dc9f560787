import { expect, test } from 'vitest'
import { withinTime } from './time-limit.ts'

const NEVER_ENDS = 24 * 60 * 60 * 1000

test('work that finishes in time completes', () => {
  const done: string[] = []
  expect(withinTime(NEVER_ENDS, () => void done.push('moored'))).toBe(true)
  expect(done).toEqual(['moored'])
})

test('an endless regular expression match is stopped, and earlier effects remain', () => {
  const done: string[] = []
  const finished = withinTime(500, () => {
    done.push('before')
    done.push(String(/^(a+)+$/.test(`${'a'.repeat(200)}b`)))
  })
  expect(finished).toBe(false)
  expect(done).toEqual(['before'])
})

test('an error of the work is rethrown unchanged', () => {
  const defect = new TypeError('a defect')
  expect(() =>
    withinTime(NEVER_ENDS, () => {
      throw defect
    }),
  ).toThrow(defect)
})
