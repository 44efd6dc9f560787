import * as z from 'zod'
import { HttpFailure } from '../host/net/http.ts'
import { failed, type HawserError } from '../model/errors.ts'
import { vendorError } from './vendor-error.ts'
import { saidIn } from './vendor-message.ts'

/** A reason on its way through code that is not ours and knows exceptions only. The SDKs wrap it; `failureOf` finds it again. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure'
  readonly reason: HawserError

  constructor(reason: HawserError) {
    // Always the same: the SDKs look for words in it.
    super('The call failed.')
    this.reason = reason
  }
}

/** Why a call failed, from what was thrown. `place` is where it went. Pure. */
export function failureOf(thrown: unknown, place: string): HawserError {
  const chain = causesOf(thrown)
  const failure = chain.find((error) => error instanceof CallFailure)
  if (failure !== undefined) return failure.reason
  const connection = chain.find((error) => error instanceof HttpFailure)
  if (connection !== undefined) return noConnection(connection.code, place)
  const api = chain.map((error) => ApiError.safeParse(error)).find(({ success }) => success)?.data
  if (api?.status !== undefined) return vendorSaid({ ...api, status: api.status })
  // An SDK's error that has a place for a status and none in it is about the connection.
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

/** What both SDKs throw of an answer with an error status. `error` is its body, or the error in it. */
const ApiError = z
  .object({
    status: z.int().optional(),
    error: z.unknown().optional(),
    requestID: z.string().optional().catch(undefined),
  })
  .refine((error) => 'status' in error)

function vendorSaid({ status, error, requestID }: z.infer<typeof ApiError> & { status: number }) {
  const said = saidIn(error) ?? { message: '' }
  return vendorError({ ...said, status, requestId: said.requestId ?? requestID })
}

function noConnection(code: string, place: string): HawserError {
  const origin = URL.canParse(place) ? new URL(place).origin : 'the provider'
  const why = TROUBLES.find(([codes]) => codes.test(code))?.[1] ?? 'The connection failed'
  const next = [{ action: 'Check the network and the base URL of the provider.' }]
  return failed('network', `${why} (${origin}, ${code}).`, { code, origin }, next).error
}

const TROUBLES: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'No server takes connections there'],
  [/^(ENOTFOUND|EAI_\w+)$/, 'Nobody knows a server of that name'],
  [/^(ETIMEDOUT|ECONNABORTED)$/, 'There was no connection in good time'],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, 'The connection broke off'],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, 'There is no way to that server'],
  [/CERT|SELF_SIGNED|SIGNATURE|ISSUER/, 'The server could not prove that it is the right one'],
  [/TLS|SSL|^EPROTO$/, 'No sealed connection could be made'],
  [/^HPE_|^ERR_HTTP/, 'What the server said is not HTTP'],
]

function defect(chain: readonly unknown[]): HawserError {
  const causes = chain.map((error) =>
    error instanceof Error ? `${error.name}: ${error.message}` : typeof error,
  )
  return failed('internal', 'The call failed in a way that was not expected.', {
    causes: causes.map((cause) => cause.slice(0, 200)),
  }).error
}
