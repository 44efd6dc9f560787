import { expect, test } from 'vitest'
import { CAUSE, type ErrorCause } from './error-cause.ts'
import { ErrorBody, LoggedError } from './error-shape.ts'
import { causeOf, failed, withCause } from './errors.ts'

const PLAIN = failed('resource_missing', 'It is gone.', { state: 'missing' }, [{ action: 'look' }])
const CAUSE_OF_IT: ErrorCause = { type: 'payload', state: 'missing' }
const CAUSED = withCause(PLAIN, CAUSE_OF_IT)

test('a cause is kept beside what people see of an error, and by copies of it', () => {
  expect(causeOf(PLAIN.error)).toBeUndefined()
  expect(CAUSED).toEqual({ ok: false, error: { ...PLAIN.error, [CAUSE]: CAUSE_OF_IT } })
  expect(causeOf({ ...CAUSED.error, message: 'It is still gone.' })).toEqual(CAUSE_OF_IT)
  expect(causeOf(withCause(CAUSED, { type: 'never_used' }).error)).toEqual({ type: 'never_used' })
})

test('a cause never leaves the process: not as JSON, not by a schema, not to a thread', () => {
  expect(JSON.stringify(CAUSED)).toBe(JSON.stringify(PLAIN))
  expect(ErrorBody.parse(CAUSED)).toEqual(PLAIN)
  expect(LoggedError.parse(CAUSED.error)).toEqual(PLAIN.error)
  expect(structuredClone(CAUSED)).toEqual(PLAIN)
})
