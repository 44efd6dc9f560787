import { RequestError } from '@agentclientprotocol/sdk'
import type { ErrorKind, HawserError, Result } from '../../model/errors.ts'

export const PARSE_ERROR = -32_700
export const INVALID_REQUEST = -32_600
export const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
const INTERNAL = -32_603
const AUTH_REQUIRED = -32_000
const NOT_FOUND = -32_002
const CANCELLED = -32_800

/** The value, or the error as the client receives it. */
export function orRefuse<T>(result: Result<T>): T {
  if (result.ok) return result.value
  throw requestError(result.error)
}

export function requestError(error: HawserError, code = codeOf(error.kind)): RequestError {
  return new RequestError(code, error.message, errorData(error))
}

/** Programs branch on `kind`. */
export function errorData({ kind, details, next_actions }: HawserError): object {
  return { kind, details, next_actions }
}

export function codeOf(kind: ErrorKind): number {
  return CODES[kind]
}

/** Every kind of error, by the code of JSON-RPC or ACP that is nearest to it. */
const CODES = {
  invalid_args: INVALID_PARAMS,
  not_found: NOT_FOUND,
  session_busy: INVALID_REQUEST,
  turn_in_progress: INVALID_REQUEST,
  question_closed: INVALID_REQUEST,
  session_foreign: INVALID_REQUEST,
  log_damaged: INTERNAL,
  storage_failed: INTERNAL,
  unsupported_type: INVALID_PARAMS,
  too_large: INVALID_PARAMS,
  budget_exceeded: INVALID_PARAMS,
  type_mismatch: INVALID_PARAMS,
  not_regular_file: INVALID_PARAMS,
  unreadable: INTERNAL,
  resource_missing: NOT_FOUND,
  resource_quarantined: INVALID_REQUEST,
  images_require_workspace: INVALID_PARAMS,
  attachments_failed: INVALID_PARAMS,
  permission_denied: INVALID_REQUEST,
  outside_workspace: INVALID_PARAMS,
  sandbox_unavailable: INTERNAL,
  context_overflow: INVALID_REQUEST,
  auth: AUTH_REQUIRED,
  not_configured: AUTH_REQUIRED,
  model_not_found: INVALID_PARAMS,
  rate_limited: INTERNAL,
  overloaded: INTERNAL,
  usage_limit: INTERNAL,
  refused: INTERNAL,
  network: INTERNAL,
  stream_idle: INTERNAL,
  invalid_response: INTERNAL,
  interrupted: CANCELLED,
  timeout: INTERNAL,
  hydration_denied: INVALID_REQUEST,
  hydration_failed: INTERNAL,
  instance_disabled: INVALID_REQUEST,
  wake_failed: INTERNAL,
  cursor_expired: INVALID_PARAMS,
  backpressure: INVALID_REQUEST,
  call_limit: INTERNAL,
  no_match: INVALID_PARAMS,
  not_unique: INVALID_PARAMS,
  unknown_tool: INVALID_PARAMS,
  protected_path: INVALID_REQUEST,
  internal: INTERNAL,
} as const satisfies Record<ErrorKind, number>
