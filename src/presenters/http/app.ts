import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { elapsedMs } from '../../host/clock.ts'
import { isSecret } from '../../host/server/secret.ts'
import { failed } from '../../model/errors.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import { answerFailure, sendAnswer, type RequestVariables } from './exchange/answer.ts'
import { ATTACHMENT_ROUTES } from './attachment-routes.ts'
import { CATALOGUE_ROUTES } from './catalogue-routes.ts'
import { CONTROL_ROUTES } from './control-routes.ts'
import { DRAFT_ROUTES } from './draft-routes.ts'
import { EVENT_ROUTES } from './event-routes.ts'
import type { Route } from './exchange/route.ts'
import { PAGE_ROUTES } from './page-routes.ts'
import { PERMISSION_ROUTES } from './permission-routes.ts'
import { QUEUE_ROUTES } from './queue-routes.ts'
import { READING_ROUTES } from './reading-routes.ts'
import { TURN_ROUTES } from './turn-routes.ts'
import { RESOURCE_ROUTES } from './resource-routes.ts'
import { SESSION_ROUTES } from './session-routes.ts'
import type { ServerParts } from './server-parts.ts'
import { BLOB_ROUTES } from './tether/blob-routes.ts'
import { FRAME_ROUTES } from './tether/frame-routes.ts'
import { INSTANCE_ROUTES } from './tether/instance-routes.ts'
import { defectText, tokenFailure } from './translate.ts'

/** The routes of the local server. The host layer has already checked `Host` and `Origin`. */
export function httpApp(parts: ServerParts): Hono<RequestVariables> {
  const app = new Hono<RequestVariables>()
  app.use(logRequests(parts))
  app.use(safeHeaders)
  app.use(redactBodies(parts))
  const add = (one: Route<ServerParts>) =>
    app.on(one.method, one.path, (context) => one.serve(parts, context))
  ROUTES.filter(({ open }) => open === true).forEach(add)
  app.use(requireToken(parts.token))
  ROUTES.filter(({ open }) => open !== true).forEach(add)
  app.all(MCP, (context) => parts.mcp.fetch(context.req.raw))
  app.notFound((context) => answerFailure(context, NO_ROUTE))
  app.onError((error, context) => {
    context.set('error', defectText(error))
    return answerFailure(context, DEFECT)
  })
  return app
}

/** Every route except that of MCP. */
export const ROUTES: readonly Route<ServerParts>[] = [
  ...CATALOGUE_ROUTES,
  ...PAGE_ROUTES,
  ...CONTROL_ROUTES,
  ...SESSION_ROUTES,
  ...ATTACHMENT_ROUTES,
  ...TURN_ROUTES,
  ...EVENT_ROUTES,
  ...DRAFT_ROUTES,
  ...QUEUE_ROUTES,
  ...READING_ROUTES,
  ...PERMISSION_ROUTES,
  ...RESOURCE_ROUTES,
  ...INSTANCE_ROUTES,
  ...FRAME_ROUTES,
  ...BLOB_ROUTES,
]

const { error: NO_ROUTE } = failed('not_found', 'No such route.')
/** The cause is in the log only. */
const { error: DEFECT } = failed('internal', 'An unexpected error. The log of the server has it.')

/** Gives each request an id, which its response and the log name. */
function logRequests({ clock, onRequest }: ServerParts): MiddlewareHandler<RequestVariables> {
  const started = clock.now().toString(36)
  let count = 0
  return async (context, next) => {
    const begun = clock.monotonicMs()
    count += 1
    const requestId = `req_${started}_${count}`
    context.set('requestId', requestId)
    await next()
    context.header('x-request-id', requestId)
    const { method, path } = context.req
    const error = context.get('error')
    onRequest({
      request_id: requestId,
      method,
      path,
      status: context.res.status,
      duration_ms: elapsedMs(clock, begun),
      ...definedFields({ error }),
    })
  }
}

/** Errors repeat what was sent, and everything else may have been recorded when a key was not known. */
function redactBodies({ redactor }: ServerParts): MiddlewareHandler {
  return async (context, next) => {
    await next()
    const isJson = context.res.headers.get('content-type')?.startsWith('application/json') === true
    if (!isJson || context.req.path === MCP || redactor.keys.length === 0) return
    const text = await context.res.text()
    const { status, headers } = context.res
    context.res = new Response(redactor.text(text), { status, headers })
  }
}

/** Redacts its results itself: they may contain images. */
const MCP = '/mcp'

/** Nothing is cached, framed, sniffed or run, unless a route decides otherwise. There are no CORS headers on purpose. */
const safeHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  for (const [name, value] of SAFE_HEADERS) {
    if (!context.res.headers.has(name)) context.header(name, value)
  }
}

const SAFE_HEADERS = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
})

/** Everything after it needs the token, also routes that do not exist. */
function requireToken(token: string): MiddlewareHandler<RequestVariables> {
  return async (context: Context<RequestVariables>, next) => {
    const [, sent] = /^Bearer ([^\s]+)$/i.exec(context.req.header('authorization') ?? '') ?? []
    if (isSecret(sent ?? '', token)) return next()
    context.header('www-authenticate', 'Bearer')
    return sendAnswer(context, tokenFailure(sent === undefined ? 'missing' : 'wrong'))
  }
}
