import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { HttpHeaders } from './http-headers.ts'

const NAMES = ['a', 'A', 'x-b', 'X-B', 'set-cookie', 'Set-Cookie', 'bad name', '']
const VALUES = ['1', ' 2\t', '', 'ü', '🚢', 'a\r\nb', 'a\0', 'a, b']
const step = fc.record({
  act: fc.constantFrom('append' as const, 'set' as const, 'delete' as const),
  name: fc.constantFrom(...NAMES),
  value: fc.constantFrom(...VALUES),
})

/** What a person of either class can see of it. */
function shown(headers: Headers) {
  const seen: string[] = []
  headers.forEach((value, name) => seen.push(`${name}: ${value}`))
  const known = NAMES.slice(0, 6).map((name) => [headers.has(name), headers.get(name)])
  const parts = [...headers.keys(), ...headers.values()]
  return [[...headers], [...headers.entries()], parts, seen, known, headers.getSetCookie()]
}

test('headers behave as those of fetch, whatever is done with them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
      const [ours, standard] = [new HttpHeaders(), new Headers()]
      for (const { act, name, value } of steps) {
        const [mine, other] = [ours, standard].map((headers) => {
          try {
            if (act === 'delete') headers.delete(name)
            else headers[act](name, value)
            return 'done'
          } catch (error) {
            return error instanceof TypeError ? 'TypeError' : 'other'
          }
        })
        expect(mine).toBe(other)
      }
      expect(shown(ours)).toEqual(shown(standard))
      expect(shown(new HttpHeaders(ours))).toEqual(shown(new Headers(standard)))
      expect(shown(new HttpHeaders([...ours]))).toEqual(shown(new Headers([...standard])))
    }),
  )
})

test('headers are made of a record, and refuse any row that is not a pair', () => {
  expect([...new HttpHeaders({ B: '2', a: '1' })]).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
  expect(() => new HttpHeaders([['a', '1', '2']])).toThrow(TypeError)
})
