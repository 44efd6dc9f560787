import { expect, test } from 'vitest'
import { ATTACHMENT_CODES } from '../../src/model/attachment.ts'
import { EXIT_CODES } from '../../src/model/exit-codes.ts'
import { ERROR_KINDS } from '../../src/model/errors.ts'

test('the error kinds are these [TI-044] [SH-040]', () => {
  expect(ERROR_KINDS).toMatchSnapshot()
})

test('a command exits with 1 except for these kinds', () => {
  expect(Object.keys(EXIT_CODES).toSorted()).toEqual(ERROR_KINDS.toSorted())
  expect(Object.fromEntries(Object.entries(EXIT_CODES).filter(([, code]) => code !== 1))).toEqual({
    invalid_args: 2,
    too_large: 2,
    permission_denied: 3,
    attachments_failed: 4,
    session_busy: 5,
    turn_in_progress: 5,
    question_closed: 5,
    auth: 6,
    not_configured: 6,
    timeout: 124,
    interrupted: 130,
  })
})

test('the attachment codes are these', () => {
  expect(ATTACHMENT_CODES).toMatchSnapshot()
})
