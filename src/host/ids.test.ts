import { expect, test } from 'vitest'
import { EventId, ResourceId, SessionId, TurnId } from '../model/ids.ts'
import { systemIds } from './ids.ts'

test('ids are new each time, valid, and sort by the time they were made', () => {
  let now = Date.UTC(2026, 0, 31, 12)
  const ids = systemIds({ now: () => now, after: () => () => {} })
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

test('names of temporary files are never those of blobs or Sessions', () => {
  const ids = systemIds({ now: () => 0, after: () => () => {} })
  expect(ids.temporary()).toMatch(/^\.tmp-[0-9a-z]{16}$/)
})
