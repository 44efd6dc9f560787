import { expect, test } from 'vitest'
import { BLOB_EXTENSIONS } from '../../src/model/ids.ts'
import { ATTACHMENT_EXTENSIONS, LIMITS } from '../../src/model/limits.ts'

test('the limits are these [TI-035] [TI-036] [TI-103] [TI-107] [TI-117] [SH-033] [AT-006] [AT-048]', () => {
  expect(LIMITS).toMatchSnapshot()
})

test('no part of the program can change the limits', () => {
  expect(Object.isFrozen(LIMITS)).toBe(true)
  expect(Object.isFrozen(ATTACHMENT_EXTENSIONS)).toBe(true)
})

test('exactly nine extensions may be attached [AT-014]', () => {
  expect(Object.keys(ATTACHMENT_EXTENSIONS)).toHaveLength(9)
  expect(ATTACHMENT_EXTENSIONS).toMatchSnapshot()
})

test('a blob has one of these extensions, by its media type [TI-014]', () => {
  expect(BLOB_EXTENSIONS).toMatchSnapshot()
})
