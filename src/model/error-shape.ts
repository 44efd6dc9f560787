import * as z from 'zod'
import { ERROR_KINDS, type ErrorKind, type HawserError } from './errors.ts'
import { openObject } from './shape.ts'

const fields = {
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  details: z.record(z.string(), z.unknown()),
}

export const NextAction = openObject({ action: z.string(), command: z.string().exactOptional() })

/** The error as the CLI's `--json`, HTTP, ACP and MCP show it. */
export const ErrorObject = openObject({
  ...fields,
  next_actions: z.array(NextAction),
}) satisfies z.ZodType<HawserError>

export const ErrorBody = openObject({ ok: z.literal(false), error: ErrorObject })

/** The error as an Event carries it: what is empty is omitted. */
export const LoggedError = openObject({
  ...fields,
  details: fields.details.optional(),
  next_actions: z.array(NextAction).optional(),
})

/** How a command that ends with this kind exits. 0 is kept for success, 1 says that the Turn failed. */
export const EXIT_CODES = Object.freeze({
  invalid_args: 2,
  not_found: 1,
  session_busy: 5,
  turn_in_progress: 5,
  session_foreign: 1,
  log_damaged: 1,
  storage_failed: 1,
  unsupported_type: 1,
  too_large: 2,
  budget_exceeded: 1,
  type_mismatch: 1,
  not_regular_file: 1,
  unreadable: 1,
  resource_missing: 1,
  resource_quarantined: 1,
  images_require_workspace: 1,
  attachments_failed: 4,
  permission_denied: 3,
  outside_workspace: 1,
  sandbox_unavailable: 1,
  context_overflow: 1,
  auth: 6,
  not_configured: 6,
  rate_limited: 1,
  overloaded: 1,
  usage_limit: 1,
  refused: 1,
  network: 1,
  stream_idle: 1,
  invalid_response: 1,
  interrupted: 130,
  timeout: 124,
  hydration_denied: 1,
  hydration_failed: 1,
  instance_disabled: 1,
  wake_failed: 1,
  cursor_expired: 1,
  backpressure: 1,
  call_limit: 1,
  no_match: 1,
  not_unique: 1,
  unknown_tool: 1,
  protected_path: 1,
  internal: 1,
}) satisfies Record<ErrorKind, number>
