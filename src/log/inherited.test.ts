import { expect, test } from 'vitest'
import { ResourceId, SessionId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import { Inheritance, inheritedId } from './inherited.ts'

const CHILD = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const ID = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z34')

/** A value that many lists deep. */
function nested(value: unknown, depth: number): unknown {
  return JSON.parse(`${'['.repeat(depth)}${JSON.stringify(value)}${']'.repeat(depth)}`)
}

test('ids are derived at every depth that an Event may have, and a stored field that is deeper is left as it is', () => {
  const inheritance = new Inheritance([CHILD])
  const derived = { resource_id: inheritedId(CHILD, ID) }
  const of = (depth: number) => nested({ resource_id: ID }, depth)
  const read = (resources: unknown) => inheritance.fields('user_message', { resources })
  const deepest = LIMITS.event_depth - 2
  expect(read(of(deepest))).toEqual({ resources: nested(derived, deepest) })
  // A blob may contain anything.
  const hostile = of(100_000)
  expect(read(hostile)['resources']).toHaveLength(1)
})
