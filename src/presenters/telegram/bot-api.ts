import type { ApiMethods } from 'grammy/types'
import type { InputFile } from 'grammy/web'
import type { Clock } from '../../host/clock.ts'
import { HttpFailure, type Fetch } from '../../host/net/http.ts'
import { patience } from '../../host/wait.ts'

/** Where a bot is reached, and with what. The token is in every URL, so no URL is ever shown or logged. */
export interface BotAccess {
  readonly token: string
  /** Without a trailing slash. */
  readonly apiRoot: string
}

/**
 * Why a call of the Bot API failed, rebuilt from facts: the errors of the library contain the URL, and with it the token, in
 * their message, their stack and their JSON.
 */
export interface BotFailure {
  readonly method: string
  /** The error code of Telegram, as of HTTP; 0 if there was no answer. */
  readonly code: number
  /** Why there was no answer: a code of the system, or `timeout`. */
  readonly network?: string
  /** How long Telegram says to wait. */
  readonly retrySeconds?: number
  /** The id that a group has now. */
  readonly movedTo?: number
}

export type BotResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: BotFailure }

export type Method = keyof ApiMethods
export type Arguments<M extends Method> = NonNullable<Parameters<ApiMethods[M]>[0]>

/** Calls methods of the Bot API. Never throws. */
export interface BotApi {
  /** The value is as Telegram sent it, and not checked. Methods without arguments get `undefined`. */
  call<M extends Method>(
    method: M,
    args: Arguments<M> | undefined,
    options?: CallOptions,
  ): Promise<BotResult<unknown>>
  /** Bytes as a file to upload. */
  file(bytes: Uint8Array, name: string): InputFile
}

interface CallOptions {
  /** Ends the call, and the one that the caller makes after it. */
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 60_000

/** The library is loaded here: most homes have no bot. */
export async function openBotApi(
  { token, apiRoot }: BotAccess,
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<BotApi> {
  const { Api, InputFile: File } = await import('grammy/web')
  const { raw } = new Api(token, {
    apiRoot,
    fetch: wholeBodies(fetch),
    sensitiveLogs: false,
  })
  return {
    call: async (method: string, args, { signal: outer, timeoutMs = TIMEOUT_MS } = {}) => {
      const limit = patience(clock, timeoutMs, outer)
      const { signal } = limit
      const given = args === undefined ? [] : [args]
      try {
        return {
          ok: true,
          value: await methodOf(raw, method)(...given, signal),
        }
      } catch (error) {
        return { ok: false, failure: failureOf(method, error, signal.aborted) }
      } finally {
        limit.end()
      }
    },
    file: (bytes, name) => new File(bytes, name),
  }
}

type UntypedMethod = (...args: readonly object[]) => Promise<unknown>

/** Without the types of its arguments, which name a package in place of the signals that Node has. */
function methodOf(raw: object, name: string): UntypedMethod {
  const method: unknown = Reflect.get(raw, name)
  if (isMethod(method)) return method
  throw new TypeError(`no method ${name}`)
}

function isMethod(value: unknown): value is UntypedMethod {
  return typeof value === 'function'
}

/** Our HTTP sends bytes or text; the library streams an upload that is in memory anyway. */
function wholeBodies(fetch: Fetch): Fetch {
  return async (input, init) => {
    const body = init?.body
    if (body === undefined || body === null || typeof body === 'string') return fetch(input, init)
    const whole = Buffer.from(await new Response(body).arrayBuffer())
    return fetch(input, { ...init, body: whole })
  }
}

/** Takes nothing from the error but codes and numbers. */
function failureOf(method: string, error: unknown, isOver: boolean): BotFailure {
  if (typeof error !== 'object' || error === null) return { method, code: 0, network: 'unknown' }
  const code = 'error_code' in error ? numberOf(error.error_code) : undefined
  if (code !== undefined) {
    const parameters = 'parameters' in error ? error.parameters : undefined
    const retrySeconds = memberOf(parameters, 'retry_after')
    const movedTo = memberOf(parameters, 'migrate_to_chat_id')
    return {
      method,
      code,
      ...(retrySeconds === undefined ? {} : { retrySeconds }),
      ...(movedTo === undefined ? {} : { movedTo }),
    }
  }
  if (isOver) return { method, code: 0, network: 'timeout' }
  const cause = 'error' in error ? error.error : error
  if (cause instanceof HttpFailure) return { method, code: 0, network: cause.code }
  // Not JSON: a proxy or another server answered.
  return { method, code: 0, network: 'invalid_response' }
}

function memberOf(parameters: unknown, name: string): number | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined
  return numberOf(Object.entries(parameters).find(([key]) => key === name)?.[1])
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
