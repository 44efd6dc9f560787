import { expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod'
import { ErrorBody, ErrorObject, LoggedError } from './error-shape.ts'
import { failed, type HawserError } from './errors.ts'

const BODY = failed('session_busy', 'Another program holds it.', { pid: 4 }, [
  { action: 'wait' },
  { action: 'look', command: 'hawser sessions' },
])

test('an error has the same shape inside and outside', () => {
  expect(ErrorBody.parse(BODY)).toEqual(BODY)
  expectTypeOf<z.infer<typeof ErrorObject>>().toExtend<HawserError>()
})

test('an error body may have more fields than these', () => {
  const wider = { ...BODY, error: { ...BODY.error, type: 'SESSION_BUSY' } }
  expect(ErrorBody.parse(wider)).toEqual(wider)
})

test.each(['kind', 'message', 'details', 'next_actions'])('an error always has %s', (field) => {
  expect(ErrorObject.safeParse({ ...BODY.error, [field]: undefined }).success).toBe(false)
})

test('an error has a known kind', () => {
  expect(ErrorObject.safeParse({ ...BODY.error, kind: 'tired' }).success).toBe(false)
})

test('an Event omits empty fields of an error', () => {
  expect(LoggedError.safeParse({ kind: 'timeout', message: 'late' }).success).toBe(true)
  expect(LoggedError.safeParse(BODY.error).success).toBe(true)
  expect(LoggedError.safeParse({ kind: 'timeout' }).success).toBe(false)
})
