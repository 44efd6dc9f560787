import process from 'node:process'
import { afterEach, expect, test } from 'vitest'
import { localDate } from './clock.ts'

const TZ = process.env['TZ']
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
})

const LATE = Date.UTC(2038, 0, 19, 23, 0)

test.each([
  ['UTC', LATE, '2038-01-19'],
  ['Asia/Tokyo', LATE, '2038-01-20'],
  ['America/Los_Angeles', Date.UTC(2038, 0, 19, 3, 0), '2038-01-18'],
  ['UTC', Number.MAX_SAFE_INTEGER, '9999-12-31'],
  ['Asia/Tokyo', Number.MAX_SAFE_INTEGER, '9999-12-31'],
])('in %s the date of %i is %s', (zone, now, date) => {
  process.env['TZ'] = zone
  expect(localDate({ now: () => now })).toEqual({ date, zone })
})
