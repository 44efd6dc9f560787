import { expect, test } from 'vitest'
import { ATTACHMENT_CODES } from '../../src/model/attachment.ts'
import { EXIT_CODES } from '../../src/model/exit-codes.ts'
import { ERROR_KINDS } from '../../src/model/errors.ts'

test('the error kinds are these [TI-044] [SH-040]', () => {
  expect(ERROR_KINDS).toEqual([
    'invalid_args',
    'not_found',
    'session_busy',
    'turn_in_progress',
    'question_closed',
    'session_foreign',
    'log_damaged',
    'storage_failed',
    'unsupported_type',
    'too_large',
    'budget_exceeded',
    'type_mismatch',
    'not_regular_file',
    'unreadable',
    'resource_missing',
    'resource_quarantined',
    'images_require_workspace',
    'attachments_failed',
    'permission_denied',
    'outside_workspace',
    'sandbox_unavailable',
    'context_overflow',
    'auth',
    'not_configured',
    'model_not_found',
    'rate_limited',
    'overloaded',
    'usage_limit',
    'refused',
    'network',
    'stream_idle',
    'invalid_response',
    'interrupted',
    'timeout',
    'hydration_denied',
    'hydration_failed',
    'instance_disabled',
    'wake_failed',
    'cursor_expired',
    'backpressure',
    'call_limit',
    'no_match',
    'not_unique',
    'unknown_tool',
    'protected_path',
    'internal',
  ])
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
  expect(ATTACHMENT_CODES).toEqual([
    'not_absolute',
    'invalid_name',
    'unsupported_type',
    'not_found',
    'unreadable',
    'not_regular_file',
    'symlink',
    'too_large',
    'budget_exceeded',
    'type_mismatch',
    'empty',
    'too_many_pixels',
    'encrypted',
    'corrupt',
    'changed_while_read',
    'outside_workspace',
    'hard_link',
    'link_refused',
    'timeout',
  ])
})
