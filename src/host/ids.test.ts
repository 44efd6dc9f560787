import { expect, test } from 'vitest'
import { EventId, ResourceId, SessionId, TurnId } from '../model/ids.ts'
import { systemIds } from './ids.ts'

test('ids are unique, valid, and sort by creation time', () => {
  let now = Date.UTC(2026, 0, 31, 12)
  const ids = systemIds({ now: () => now })
  const made = Array.from({ length: 1000 }, () => {
    now += 1
    return ids.event()
  })
  expect(new Set(made).size).toBe(1000)
  expect(made.toSorted()).toEqual(made)
  const valid = [
    EventId.safeParse(made[0]),
    SessionId.safeParse(ids.session()),
    TurnId.safeParse(ids.turn()),
    ResourceId.safeParse(ids.resource()),
  ]
  expect(valid.map(({ success }) => success)).toEqual([true, true, true, true])
  expect(ids.session().slice(0, 14)).toBe(`ses_${made[999]?.slice(4, 14)}`)
})

test.each([
  ['before 1970', -1],
  ['before year 0', -8.64e15],
  ['beyond 48 bits', 2 ** 48],
  ['at the last moment a Date can represent', 8.64e15],
  ['between two milliseconds', 0.5],
])('a clock %s gives valid ids', (_name, now) => {
  const ids = systemIds({ now: () => now })
  const made = [ids.session(), ids.turn(), ids.event(), ids.resource()]
  expect(made.map((id) => id.length)).toEqual([30, 30, 30, 30])
  expect(EventId.safeParse(ids.event()).success).toBe(true)
})

test('a clock that steps back does not make later ids sort before earlier ones', () => {
  const times = [5_000, 10_000, 3_000, -40, 2 ** 60, 7_000]
  const ids = systemIds({ now: () => times.shift() ?? 0 })
  const made = Array.from({ length: 6 }, () => ids.event().slice(0, 14))
  expect(made.toSorted()).toEqual(made)
})

test('names of temporary files never equal names of blobs or Sessions', () => {
  const ids = systemIds({ now: () => 0 })
  expect(ids.temporary()).toMatch(/^\.tmp-[0-9a-z]{16}$/)
})
