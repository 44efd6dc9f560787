import type { HawserError } from '../../../model/errors.ts'
import { ERROR_RESPONSES, type ErrorResponse } from './error-table.ts'

/** The response to a failed request: its status, and its body as in `docs/http.md`. */
export interface FailureAnswer {
  readonly status: ErrorResponse['status']
  readonly body: { readonly ok: false; readonly error: HawserError & { readonly type: string } }
}

/** `as` replaces what the table says about this kind, where a route knows better. */
export function failureAnswer(
  { kind, message, details, next_actions }: HawserError,
  as: Partial<ErrorResponse> = {},
): FailureAnswer {
  const { status, type } = { ...ERROR_RESPONSES[kind], ...as }
  return { status, body: { ok: false, error: { type, kind, message, details, next_actions } } }
}

/** A failure to find or open a Session. */
export function sessionFailure(error: HawserError): FailureAnswer {
  return failureAnswer(error, error.kind === 'not_found' ? { type: 'SESSION_NOT_FOUND' } : {})
}
