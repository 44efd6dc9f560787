import { CAUSE, type ErrorCause } from './error-cause.ts'

/** Every kind of expected failure. The CLI, HTTP, ACP and MCP all use these names. */
export const ERROR_KINDS = [
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
] as const

export type ErrorKind = (typeof ERROR_KINDS)[number]

/** What a person can do next; `command` is a command line to type. */
export interface NextAction {
  readonly action: string
  readonly command?: string
}

/**
 * The only error shape. `message` and `details` are for people and for programs that read our JSON. Code of Hawser branches on
 * `kind` and on the cause (`causeOf`), never on a field of `details` and never on prose.
 */
export interface HawserError {
  readonly kind: ErrorKind
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  readonly next_actions: readonly NextAction[]
  /** Absent if no code branches on more than the kind. Never serialized. */
  readonly [CAUSE]?: ErrorCause
}

/** Expected failure is a value. Throwing is for defects. */
export type Result<T> = { readonly ok: true; readonly value: T } | Failed

export interface Failed {
  readonly ok: false
  readonly error: HawserError
}

export function ok<T>(value: T): Result<T> {
  return { ok: true, value }
}

export function failed(
  kind: ErrorKind,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
  nextActions: readonly NextAction[] = [],
): Failed {
  return { ok: false, error: { kind, message, details, next_actions: nextActions } }
}

/** The same failure with a cause, which replaces an earlier one. */
export function withCause({ error }: Failed, cause: ErrorCause): Failed {
  return { ok: false, error: { ...error, [CAUSE]: cause } }
}

/** Undefined for an error that was read as data, from a Log or a pipe: only the process that created it knows its cause. */
export function causeOf(error: HawserError): ErrorCause | undefined {
  return error[CAUSE]
}
