import type * as z from 'zod'
import { parseJson } from '../../encoding/json.ts'
import { httpFetch, HttpFailure, type Fetch } from '../../host/net/http.ts'
import { ErrorBody } from '../../model/error-shape.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { ServerPlace } from './started-server.ts'

export interface ServerCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/v1`, with its query. */
  readonly path: string
  readonly body?: { readonly type: string; readonly bytes: Uint8Array } | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** It may be sent again if the connection broke, because a second one changes nothing. */
  readonly repeatable: boolean
}

/** Finds the server for the next request. */
export type FindServer = () => Promise<Result<ServerPlace>>

interface ReachedServer {
  readonly fetch: Fetch
  readonly base: string
  readonly token: string
}

/**
 * Requests to the local server, over its socket or else its port. The server is looked for at the first request, and again
 * when it does not answer: it may have been restarted.
 */
export class ServerCalls {
  readonly #find: FindServer
  #server: Promise<Result<ReachedServer>> | undefined

  constructor(find: FindServer) {
    this.#find = find
  }

  /** The JSON of a successful response, checked; or the failure that the server reported. */
  async json<T>(call: ServerCall, shape: z.ZodType<T>): Promise<Result<T>> {
    const response = await this.response(call)
    if (!response.ok) return response
    const body = await wholeBody(response.value, call.signal)
    if (!body.ok) return body
    const read = shape.safeParse(parseJson(body.value.toString('utf8')))
    return read.success ? ok(read.data) : unexpectedAnswer()
  }

  async bytes(
    call: ServerCall,
  ): Promise<Result<{ readonly type: string; readonly bytes: Buffer }>> {
    const response = await this.response(call)
    if (!response.ok) return response
    const body = await wholeBody(response.value, call.signal)
    if (!body.ok) return body
    return ok({ type: response.value.headers.get('content-type') ?? '', bytes: body.value })
  }

  /** A successful response, whose body is read as it arrives. */
  async response(call: ServerCall): Promise<Result<Response>> {
    const first = await this.#attempt(call)
    if (first.ok || !first.again) return first.ok ? first.value : first.failure
    this.#server = undefined
    const second = await this.#attempt(call)
    return second.ok ? second.value : second.failure
  }

  async #attempt(call: ServerCall): Promise<Attempt> {
    const reached = await (this.#server ??= this.#reach())
    if (!reached.ok) {
      this.#server = undefined
      return { ok: true, value: reached }
    }
    const { fetch, base, token } = reached.value
    const { method, path, body, headers, signal, repeatable } = call
    try {
      const response = await fetch(`${base}/v1${path}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': body.type }),
        },
        ...(body === undefined ? {} : { body: new Uint8Array(body.bytes) }),
        ...(signal === undefined ? {} : { signal }),
      })
      if (response.ok) return { ok: true, value: ok(response) }
      const failure = await reportedFailure(response, signal)
      // The token may have been replaced together with the server.
      return { ok: false, failure, again: response.status === 401 }
    } catch (error) {
      if (signal?.aborted === true) return { ok: true, value: cancelledRequest() }
      if (!(error instanceof HttpFailure)) throw error
      const again = repeatable || NEVER_REACHED.has(error.code)
      return { ok: false, failure: noAnswer(error), again }
    }
  }

  async #reach(): Promise<Result<ReachedServer>> {
    const found = await this.#find()
    if (!found.ok) return found
    const { origin, socket, token } = found.value
    const base = socket === undefined ? origin : 'http://hawser'
    return ok({ fetch: httpFetch({ socket }), base, token })
  }
}

type Attempt =
  | { readonly ok: true; readonly value: Result<Response> }
  | { readonly ok: false; readonly failure: Failed; readonly again: boolean }

/** No server received the request. */
const NEVER_REACHED: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT'])

async function wholeBody(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<Result<Buffer>> {
  try {
    return ok(Buffer.from(await response.arrayBuffer()))
  } catch (error) {
    if (signal?.aborted === true) return cancelledRequest()
    if (error instanceof HttpFailure) return noAnswer(error)
    throw error
  }
}

/** The error of the server, in the shape that it has there. */
async function reportedFailure(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<Failed> {
  const body = await wholeBody(response, signal)
  if (!body.ok) return body
  const read = ErrorBody.safeParse(parseJson(body.value.toString('utf8'))).data
  if (read === undefined) return unexpectedAnswer()
  const { kind, message, details, next_actions } = read.error
  return failed(kind, message, details, next_actions)
}

function noAnswer({ code }: HttpFailure): Failed {
  return failed('network', 'The local server does not answer.', { code }, [
    { action: 'Show its state.', command: 'hawser status' },
  ])
}

function unexpectedAnswer(): Failed {
  const message = 'The local server gave an answer that this version does not understand.'
  return failed('invalid_response', message, {}, [
    { action: 'Restart it, if it is of another version.', command: 'hawser down' },
  ])
}

function cancelledRequest(): Failed {
  return failed('interrupted', 'The request was cancelled.')
}
