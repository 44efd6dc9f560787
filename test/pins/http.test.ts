import { expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { ERROR_KINDS } from '../../src/model/errors.ts'
import { httpApp } from '../../src/presenters/http/app.ts'
import { ERROR_RESPONSES } from '../../src/presenters/http/exchange/error-table.ts'
import type { ServerParts } from '../../src/presenters/http/server-parts.ts'

test('every error kind has this status and type over HTTP', () => {
  expect(Object.keys(ERROR_RESPONSES)).toEqual([...ERROR_KINDS])
  const rows = Object.entries(ERROR_RESPONSES).map(
    ([kind, { status, type }]) => `${kind} ${status} ${type}`,
  )
  expect(rows).toMatchInlineSnapshot(`
    [
      "invalid_args 400 INVALID_REQUEST",
      "not_found 404 NOT_FOUND",
      "session_busy 409 TURN_IN_PROGRESS",
      "turn_in_progress 409 TURN_IN_PROGRESS",
      "question_closed 409 QUESTION_CLOSED",
      "session_foreign 403 SESSION_FOREIGN",
      "log_damaged 409 SESSION_DAMAGED",
      "storage_failed 500 STORAGE_FAILURE",
      "unsupported_type 415 UNSUPPORTED_MEDIA_TYPE",
      "too_large 413 TOO_LARGE",
      "budget_exceeded 413 TOO_LARGE",
      "type_mismatch 415 UNSUPPORTED_MEDIA_TYPE",
      "not_regular_file 400 INVALID_REQUEST",
      "unreadable 500 STORAGE_FAILURE",
      "resource_missing 410 RESOURCE_MISSING",
      "resource_quarantined 409 RESOURCE_QUARANTINED",
      "images_require_workspace 400 INVALID_REQUEST",
      "attachments_failed 400 ATTACHMENT_FAILURE",
      "permission_denied 403 FORBIDDEN",
      "outside_workspace 403 FORBIDDEN",
      "sandbox_unavailable 503 SANDBOX_UNAVAILABLE",
      "context_overflow 413 CONTEXT_OVERFLOW",
      "auth 503 MISSING_API_KEY",
      "not_configured 503 MISSING_API_KEY",
      "model_not_found 400 MODEL_NOT_FOUND",
      "rate_limited 429 RATE_LIMITED",
      "overloaded 503 OVERLOADED",
      "usage_limit 429 USAGE_LIMIT",
      "refused 502 PROVIDER_FAILURE",
      "network 502 PROVIDER_FAILURE",
      "stream_idle 504 TIMEOUT",
      "invalid_response 502 PROVIDER_FAILURE",
      "interrupted 409 INTERRUPTED",
      "timeout 504 TIMEOUT",
      "hydration_denied 403 FORBIDDEN",
      "hydration_failed 422 UNPROCESSABLE",
      "instance_disabled 409 INSTANCE_DISABLED",
      "wake_failed 503 WAKE_FAILED",
      "cursor_expired 410 CURSOR_EXPIRED",
      "backpressure 429 BACKPRESSURE",
      "call_limit 422 UNPROCESSABLE",
      "no_match 422 UNPROCESSABLE",
      "not_unique 422 UNPROCESSABLE",
      "unknown_tool 422 UNPROCESSABLE",
      "protected_path 403 FORBIDDEN",
      "internal 500 INTERNAL",
    ]
  `)
})

test('the routes are these', () => {
  const { routes } = httpApp({
    token: '',
    clock: systemClock,
  } as Partial<ServerParts> as ServerParts)
  const named = routes.flatMap(({ method, path }) => (method === 'ALL' ? [] : `${method} ${path}`))
  expect(named).toEqual([
    'GET /healthz',
    'GET /',
    'GET /style.css',
    'GET /page.js',
    'POST /page/token',
    'POST /control/page',
    'POST /control/stop',
    'GET /api/harness/limits',
    'GET /api/harness/models',
    'POST /api/harness/session/create',
    'GET /api/harness/session/list',
    'GET /api/harness/session/:id',
    'DELETE /api/harness/session/:id',
    'POST /api/harness/session/:id/compact',
    'PUT /api/harness/attachments',
    'POST /api/harness/attachments/check',
    'POST /api/harness/turn',
    'POST /api/harness/interrupt',
    'GET /api/harness/session/:id/events',
    'POST /api/harness/permission',
    'GET /api/harness/session/:id/resources/:resource',
    'POST /v1/instances',
    'GET /v1/instances',
    'GET /v1/instances/:id',
    'PATCH /v1/instances/:id',
    'DELETE /v1/instances/:id',
    'POST /v1/instances/:id/start',
    'POST /v1/instances/:id/pause',
    'POST /v1/instances/:id/resume',
    'POST /v1/instances/:id/stop',
    'POST /v1/instances/:id/enable',
    'POST /v1/instances/:id/disable',
    'POST /v1/instances/:id/tether',
    'GET /v1/instances/:id/tether/poll',
    'GET /v1/instances/:id/tether/stream',
    'POST /v1/instances/:id/blobs',
    'GET /v1/instances/:id/blobs/:key',
  ])
})
