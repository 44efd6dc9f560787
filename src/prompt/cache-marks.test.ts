import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { cacheMarks } from './cache-marks.ts'

test('marks are at the end of the surface, before what is retired, and at the ends of the last request and of this one', () => {
  const places = { surface: 9, transient: 11, sharedEnd: 20, end: 24 }
  expect(cacheMarks(places).map(({ after }) => after)).toEqual([9, 11, 20, 24])
})

test('an absent part has no mark', () => {
  const first = { surface: 9, transient: undefined, sharedEnd: 0, end: 12 }
  expect(cacheMarks(first).map(({ after }) => after)).toEqual([9, 12])
  expect(cacheMarks({ ...first, end: 9 }).map(({ after }) => after)).toEqual([9])
})

test('there are at most four marks, each once, in order, inside the request and not inside the surface', () => {
  const count = fc.nat({ max: 30 })
  fc.assert(
    fc.property(
      count,
      fc.option(count, { nil: undefined }),
      count,
      count,
      (surface, transient, shared, more) => {
        const end = surface + more
        const marks = cacheMarks({ surface, transient, sharedEnd: Math.min(shared, end), end })
        const places = marks.map(({ after }) => after)
        expect(places.length).toBeLessThanOrEqual(4)
        expect(places).toEqual([...new Set(places)].toSorted((a, b) => a - b))
        expect(places.every((after) => after > 0 && after >= surface && after <= end)).toBe(true)
        if (end > 0) expect(places.at(-1)).toBe(end)
      },
    ),
  )
})
