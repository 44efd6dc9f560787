import { storedToken } from '../store/token.ts'

/** Why a request failed. `status` is 0 if the server does not answer. */
export interface Failure {
  readonly status: number
  readonly type: string
  readonly kind: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T; readonly tag: string | undefined }
  | { readonly ok: false; readonly failure: Failure }

interface RequestOptions {
  readonly body?: object | Blob
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A request of the API. The shapes of responses are those of `docs/openapi.yaml`; the server checks what it is sent. */
export async function request<T extends object>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer<T>> {
  const response = await send(method, path, options)
  if (response === undefined) return { ok: false, failure: UNREACHABLE }
  const body = await bodyOf<T>(response)
  if (response.ok && body !== undefined) {
    const tag = response.headers.get('etag') ?? undefined
    return { ok: true, value: body, tag }
  }
  return { ok: false, failure: failureOf(response.status, body) }
}

/** The response itself, for streams and bytes; `undefined` if the server does not answer. */
export async function send(
  method: string,
  path: string,
  { body, headers = {}, signal }: RequestOptions = {},
): Promise<Response | undefined> {
  const token = storedToken()
  const isJson = body !== undefined && !(body instanceof Blob)
  try {
    return await fetch(path, {
      method,
      cache: 'no-store',
      credentials: 'omit',
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch {
    return undefined
  }
}

export async function failureFrom(response: Response): Promise<Failure> {
  return failureOf(response.status, await bodyOf(response))
}

async function bodyOf<T extends object>(response: Response): Promise<T | undefined> {
  try {
    const body: unknown = await response.json()
    return isShape<T>(body) ? body : undefined
  } catch {
    return undefined
  }
}

function failureOf(status: number, body: object | undefined): Failure {
  const error = body !== undefined && 'error' in body ? body.error : undefined
  const fields = isRecord(error) ? error : {}
  const { type = 'INTERNAL', kind = 'internal', message, details } = fields
  return {
    status,
    type: String(type),
    kind: String(kind),
    message: typeof message === 'string' ? message : `The server answered with status ${status}.`,
    details: isRecord(details) ? details : {},
  }
}

/**
 * What the server sends has the shape that `docs/openapi.yaml` gives it, which tests compare with real responses: this only
 * narrows the type.
 */
export function isShape<T extends object>(value: unknown, _like?: T): value is T {
  return isRecord(value)
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const UNREACHABLE: Failure = {
  status: 0,
  type: 'UNREACHABLE',
  kind: 'network',
  message: 'The server does not answer. Start it with `hawser up`.',
  details: {},
}
