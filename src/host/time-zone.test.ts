import process from 'node:process'
import { afterEach, expect, test } from 'vitest'
import { timeZone } from './time-zone.ts'

const TZ = process.env['TZ']
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
})

test.each([
  ['Asia/Tokyo', 'Asia/Tokyo'],
  ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
  ['Etc/UTC', 'UTC'],
  ['Etc/GMT+5', 'Etc/GMT+5'],
])('the time zone %s is called %s', (set, zone) => {
  process.env['TZ'] = set
  expect(timeZone()).toBe(zone)
})

test.each([undefined, ':Asia/Tokyo', 'CET-1CEST,M3.5.0,M10.5.0/3', 'Nowhere/Never', '../zoneinfo'])(
  'if TZ is %s, the name is that of the zone in which this process shows dates',
  (set) => {
    if (set === undefined) delete process.env['TZ']
    else process.env['TZ'] = set
    expect(intlName(timeZone())).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
  },
)

/** `Intl` has one name for each zone; the system may use another one. */
function intlName(zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
}
