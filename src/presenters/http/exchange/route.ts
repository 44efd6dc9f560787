import type { Context } from 'hono'
import type * as z from 'zod'
import { ok, type Failed, type Result } from '../../../model/errors.ts'
import { noSuchSession } from '../../../session/workspace/open-workspaces.ts'
import { answerFailure, sendAnswer, type RequestVariables } from './answer.ts'
import { sessionFailure } from './failure-answer.ts'
import { checkValue, emptyBody, jsonBody } from './request-body.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a route is: the router and the description of the API follow from it. */
export interface RouteDefinition<Parts, Path extends string, Ids, Query, Body> {
  /** What it does, in the description of the API. A route without one is not part of it. */
  readonly summary?: string
  /** The ids in the path. A bad one is answered like that of no Session. */
  readonly ids?: z.ZodType<Ids>
  /** The parameters in the address. */
  readonly query?: z.ZodType<Query>
  /** How they are read. By default, the first of several with the same name counts. */
  readonly parameters?: (context: Context<RequestVariables>) => Readonly<Record<string, unknown>>
  /** A client that reconnects by itself repeats its first query, and knows more than that: `Last-Event-ID`. */
  readonly resumes?: true
  /** The body, as JSON. */
  readonly body?: z.ZodType<Body>
  /** The most bytes of the body. */
  readonly limit?: number
  /** The body is absent, or an empty JSON object. */
  readonly empty?: true
  /** The body is the bytes of a file, which `handle` reads. */
  readonly bytes?: true
  /** The name of the response in the description of the API, or what else it is. */
  readonly answer?: string
  /** 200 by default. */
  readonly status?: 200 | 201 | 202
  /** Needs no token. */
  readonly open?: true
  /** Returns a value to send as JSON, a failure, or the response itself. */
  handle(
    parts: Parts,
    request: RouteRequest<Path, Ids, Query, Body>,
  ): RouteAnswer | Promise<RouteAnswer>
}

interface RouteRequest<Path extends string, Ids, Query, Body> {
  readonly context: Context<RequestVariables, Path>
  readonly ids: Ids
  readonly query: Query
  readonly body: Body
}

type RouteAnswer = Response | Result<object> | SessionFailed

/** A failure to find or open the Session of a request. */
interface SessionFailed extends Failed {
  readonly ofSession: true
}

/** Marks a failure as one to find or open a Session, which has its own type of error. */
export function ofSession<T>(result: Result<T>): Result<T> | SessionFailed {
  return result.ok ? result : { ...result, ofSession: true }
}

/** A route and what serves it. */
export interface Route<Parts> extends Omit<
  RouteDefinition<Parts, string, unknown, unknown, unknown>,
  'handle'
> {
  readonly method: string
  /** As in `/session/:id`. */
  readonly path: string
  serve(parts: Parts, context: Context<RequestVariables>): Promise<Response>
}

/** Defines a route. `at` is its method and path. */
export function route<Parts, Path extends string, Ids, Query, Body>(
  at: `${Method} ${Path}`,
  definition: RouteDefinition<Parts, Path, Ids, Query, Body>,
): Route<Parts>
export function route<Parts>(
  at: string,
  definition: RouteDefinition<Parts, string, unknown, unknown, unknown>,
): Route<Parts> {
  const [method = '', path = ''] = at.split(' ')
  const serve: Route<Parts>['serve'] = async (parts, context) => {
    const ids = definition.ids?.safeParse(context.req.param())
    if (ids?.success === false) return sendAnswer(context, sessionFailure(NO_SESSION))
    const query = queryOf(context, definition)
    if (!query.ok) return answerFailure(context, query.error)
    const body = await bodyOf(context.req.raw, definition)
    if (!body.ok) return answerFailure(context, body.error)
    const request = { context, ids: ids?.data, query: query.value, body: body.value }
    const answer = await definition.handle(parts, request)
    if (answer instanceof Response) return answer
    if (answer.ok) return context.json({ ok: true, ...answer.value }, definition.status)
    return 'ofSession' in answer
      ? sendAnswer(context, sessionFailure(answer.error))
      : answerFailure(context, answer.error)
  }
  return { ...definition, method, path, serve }
}

const { error: NO_SESSION } = noSuchSession()

type Read = Omit<RouteDefinition<never, string, unknown, unknown, unknown>, 'handle'>

function queryOf(
  context: Context<RequestVariables>,
  { query, parameters, resumes }: Read,
): Result<unknown> {
  if (query === undefined) return ok(undefined)
  const given = parameters?.(context) ?? context.req.query()
  const last = resumes === true ? context.req.header('last-event-id') : undefined
  return checkValue(query, last === undefined ? given : { ...given, after_seq: last })
}

async function bodyOf(request: Request, { body, limit, empty }: Read): Promise<Result<unknown>> {
  if (body !== undefined) return jsonBody(request, body, limit)
  return empty === true ? emptyBody(request) : ok(undefined)
}
