import * as z from 'zod'
import { HttpFailure } from '../host/net/http.ts'
import { failed, type HawserError } from '../model/errors.ts'
import { vendorError } from './vendor-error.ts'
import { failureInBody } from './vendor-failure.ts'

/** Carries an error through the SDKs, which only know exceptions and wrap it; `failureOf` unwraps it. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  readonly reason: HawserError

  constructor(reason: HawserError) {
    // Always the same text: the SDKs search error messages for certain words.
    super('The call failed.')
    this.reason = reason
  }
}

/** The error of a failed call, from whatever was thrown. `place` is the base URL. Pure. */
export function failureOf(thrown: unknown, place: string): HawserError {
  const chain = causesOf(thrown)
  const failure = chain.find((error) => error instanceof CallFailure)
  if (failure !== undefined) return failure.reason
  const connection = chain.find((error) => error instanceof HttpFailure)
  if (connection !== undefined) return noConnection(connection.code, place)
  const api = chain.map((error) => ApiError.safeParse(error)).find(({ success }) => success)?.data
  if (api?.status !== undefined) return apiFailure({ ...api, status: api.status })
  // An SDK error with a `status` property that is undefined is a connection error.
  if (api !== undefined) return noConnection('ECONNABORTED', place)
  return defect(chain)
}

const MOST_CAUSES = 8

function causesOf(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = []
  let cause = thrown
  while (cause !== undefined && cause !== null && chain.length < MOST_CAUSES) {
    chain.push(cause)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return chain
}

/** What both SDKs throw for a response with an error status. `error` is the response body, or the error object in it. */
const ApiError = z
  .object({
    status: z.int().optional(),
    error: z.unknown().optional(),
    requestID: z.string().optional().catch(undefined),
  })
  .refine((error) => 'status' in error)

function apiFailure({ status, error, requestID }: z.infer<typeof ApiError> & { status: number }) {
  const failure = failureInBody(error) ?? { message: '' }
  return vendorError({ ...failure, status, requestId: failure.requestId ?? requestID })
}

function noConnection(code: string, place: string): HawserError {
  const origin = URL.canParse(place) ? new URL(place).origin : 'the provider'
  const why = CONNECTION_ERRORS.find(([codes]) => codes.test(code))?.[1] ?? 'The connection failed'
  const next = [
    { action: 'Check the network and the base URL of the provider.', command: 'hawser doctor' },
  ]
  return failed('network', `${why} (${origin}, ${code}).`, { code, origin }, next).error
}

const CONNECTION_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'Connection refused'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'Host name not found'],
  [/^(ETIMEDOUT|ECONNABORTED)$/, 'Connection timed out'],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'Connection lost'],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, 'Host unreachable'],
  [/CERT|SELF_SIGNED|SIGNATURE|ISSUER/, 'TLS certificate not trusted'],
  [/TLS|SSL|^EPROTO$/, 'TLS handshake failed'],
  [/^HPE_|^ERR_HTTP/, 'The server sent an invalid HTTP response'],
]

function defect(chain: readonly unknown[]): HawserError {
  const causes = chain.map((error) =>
    error instanceof Error ? `${error.name}: ${error.message}` : typeof error,
  )
  return failed('internal', 'Unexpected failure while calling the provider.', {
    causes: causes.map((cause) => cause.slice(0, 200)),
  }).error
}
