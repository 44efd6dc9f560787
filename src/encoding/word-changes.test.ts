import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { wordChanges } from './word-changes.ts'

test('only the words that differ are changes', () => {
  expect(wordChanges('const berth = 12', 'const berth = 14 + tide')).toEqual({
    before: [
      { text: 'const berth = ', isChange: false },
      { text: '12', isChange: true },
    ],
    after: [
      { text: 'const berth = ', isChange: false },
      { text: '14 + tide', isChange: true },
    ],
  })
})

test('lines with little in common, and very long ones, are not compared', () => {
  expect(wordChanges('the ship leaves', 'harbours, berths and ropes')).toBeUndefined()
  const long = 'a b '.repeat(1_000)
  expect(wordChanges(long, `${long}c`)).toBeUndefined()
})

test('the parts are the whole lines, and what did not change is the same in both', () => {
  const line = fc.array(fc.constantFrom('a', 'bc', ' ', '(', '=', 'ü', '\t')).map((l) => l.join(''))
  fc.assert(
    fc.property(line, line, (before, after) => {
      const changes = wordChanges(before, after)
      if (changes === undefined) return
      const textOf = (parts: typeof changes.before, all: boolean) =>
        parts.flatMap(({ text, isChange }) => (all || !isChange ? [text] : [])).join('')
      expect(textOf(changes.before, true)).toBe(before)
      expect(textOf(changes.after, true)).toBe(after)
      expect(textOf(changes.before, false)).toBe(textOf(changes.after, false))
    }),
  )
})
