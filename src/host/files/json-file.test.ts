import { expect, test } from 'vitest'
import { jsonOf } from './json-file.ts'

test('a file of JSON may nest 64 levels and no more', () => {
  const nested = (depth: number) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`)
  expect(jsonOf(nested(64))).toBeDefined()
  for (const depth of [65, 5_000, 100_000]) expect(jsonOf(nested(depth))).toBeUndefined()
  expect(jsonOf(Buffer.from(`{"a":${'{"b":'.repeat(70)}1${'}'.repeat(70)}}`))).toBeUndefined()
  expect(jsonOf(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
  expect(jsonOf(Buffer.from('{"a":'))).toBeUndefined()
})
