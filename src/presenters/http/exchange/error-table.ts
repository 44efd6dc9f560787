import type { ErrorKind } from '../../../model/errors.ts'

/** The status and the type of a response to a failed request. */
export interface ErrorResponse {
  readonly status:
    | 400
    | 401
    | 403
    | 404
    | 409
    | 410
    | 412
    | 413
    | 415
    | 422
    | 429
    | 500
    | 502
    | 503
    | 504
  readonly type: string
}

const INVALID = { status: 400, type: 'INVALID_REQUEST' } as const
const FORBIDDEN = { status: 403, type: 'FORBIDDEN' } as const
const BUSY = { status: 409, type: 'TURN_IN_PROGRESS' } as const
const PROVIDER = { status: 502, type: 'PROVIDER_FAILURE' } as const
const UNPROCESSABLE = { status: 422, type: 'UNPROCESSABLE' } as const

/** Every kind of error, as a response before any stream. Pinned: clients branch on `type` and `kind`. */
export const ERROR_RESPONSES = {
  invalid_args: INVALID,
  not_found: { status: 404, type: 'NOT_FOUND' },
  session_busy: BUSY,
  turn_in_progress: BUSY,
  question_closed: { status: 409, type: 'QUESTION_CLOSED' },
  session_foreign: { status: 403, type: 'SESSION_FOREIGN' },
  log_damaged: { status: 409, type: 'SESSION_DAMAGED' },
  storage_failed: { status: 500, type: 'STORAGE_FAILURE' },
  unsupported_type: { status: 415, type: 'UNSUPPORTED_MEDIA_TYPE' },
  too_large: { status: 413, type: 'TOO_LARGE' },
  budget_exceeded: { status: 413, type: 'TOO_LARGE' },
  type_mismatch: { status: 415, type: 'UNSUPPORTED_MEDIA_TYPE' },
  not_regular_file: INVALID,
  unreadable: { status: 500, type: 'STORAGE_FAILURE' },
  resource_missing: { status: 410, type: 'RESOURCE_MISSING' },
  resource_quarantined: { status: 409, type: 'RESOURCE_QUARANTINED' },
  images_require_workspace: INVALID,
  attachments_failed: { status: 400, type: 'ATTACHMENT_FAILURE' },
  permission_denied: FORBIDDEN,
  outside_workspace: FORBIDDEN,
  sandbox_unavailable: { status: 503, type: 'SANDBOX_UNAVAILABLE' },
  context_overflow: { status: 413, type: 'CONTEXT_OVERFLOW' },
  // The key of the provider was refused, not the token of this server.
  auth: { status: 503, type: 'MISSING_API_KEY' },
  not_configured: { status: 503, type: 'MISSING_API_KEY' },
  model_not_found: { status: 400, type: 'MODEL_NOT_FOUND' },
  rate_limited: { status: 429, type: 'RATE_LIMITED' },
  overloaded: { status: 503, type: 'OVERLOADED' },
  usage_limit: { status: 429, type: 'USAGE_LIMIT' },
  refused: PROVIDER,
  network: PROVIDER,
  stream_idle: { status: 504, type: 'TIMEOUT' },
  invalid_response: PROVIDER,
  interrupted: { status: 409, type: 'INTERRUPTED' },
  timeout: { status: 504, type: 'TIMEOUT' },
  hydration_denied: FORBIDDEN,
  hydration_failed: UNPROCESSABLE,
  instance_disabled: { status: 409, type: 'INSTANCE_DISABLED' },
  wake_failed: { status: 503, type: 'WAKE_FAILED' },
  cursor_expired: { status: 410, type: 'CURSOR_EXPIRED' },
  backpressure: { status: 429, type: 'BACKPRESSURE' },
  call_limit: UNPROCESSABLE,
  no_match: UNPROCESSABLE,
  not_unique: UNPROCESSABLE,
  unknown_tool: UNPROCESSABLE,
  protected_path: FORBIDDEN,
  internal: { status: 500, type: 'INTERNAL' },
} as const satisfies Record<ErrorKind, ErrorResponse>
