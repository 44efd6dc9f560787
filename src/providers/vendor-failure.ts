import * as z from 'zod'
import { parseJson } from '../encoding/json.ts'

/** A vendor's description of a failure. `status` is absent for an error inside a stream. */
export interface VendorFailure {
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly message: string
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
}

interface HeaderReader {
  get(name: string): string | null
}

/** The failure that a response with an error status describes, from its body and headers. Pure. */
export function failureOfResponse(
  { status, headers }: { readonly status: number; readonly headers: HeaderReader },
  text: string,
  now: number,
): VendorFailure {
  const body = failureInBody(parseJson(text)) ?? plainText(headers, text)
  const requestId = headers.get('request-id') ?? headers.get('x-request-id') ?? body.requestId
  return { ...body, status, requestId, retryAfterMs: retryAfterMs(headers, now) }
}

/** The failure that the body of an error describes, in any format of the vendors and compatible servers. Pure. */
export function failureInBody(body: unknown): VendorFailure | undefined {
  const whole = Whole.safeParse(body)
  if (!whole.success) return undefined
  const { error, request_id: requestId, detail } = whole.data
  if (typeof error === 'string') return { message: error, requestId }
  const inner = error ?? whole.data
  const message = inner.message ?? (typeof detail === 'string' ? detail : undefined)
  if (error === undefined && message === undefined) return undefined
  const { type, param } = inner
  const word = typeof inner.code === 'string' ? inner.code : undefined
  const code = Refinement.safeParse(inner.details).data ?? word
  // Some servers send a numeric code: it is an HTTP status, even if the response has another one.
  const status = typeof inner.code === 'number' ? inner.code : undefined
  return { message: message ?? '', status, type, code, param, requestId }
}

const HOUR_MS = 3_600_000

/** How long the server asks to wait, at most an hour. `now` is used if it names a point in time. Pure. */
export function retryAfterMs(headers: HeaderReader, now: number): number | undefined {
  const header = headers.get('retry-after') ?? ''
  const seconds = figure(header)
  const exact = figure(headers.get('retry-after-ms') ?? '')
  const waitMs = exact ?? (seconds === undefined ? Date.parse(header) - now : seconds * 1000)
  return Number.isFinite(waitMs) ? Math.ceil(Math.min(Math.max(waitMs, 0), HOUR_MS)) : undefined
}

function figure(text: string): number | undefined {
  return /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}

/** An HTML page contains no message worth showing. */
function plainText(headers: HeaderReader, text: string): VendorFailure {
  const isPage =
    headers.get('content-type')?.includes('html') === true || text.trimStart().startsWith('<')
  return { message: isPage ? '' : text }
}

/** Undefined for any other type: one malformed field must not hide the others. */
const Text = z.string().optional().catch(undefined)

const Inner = z.looseObject({
  message: Text,
  type: Text,
  code: z
    .union([z.string(), z.int().min(400).max(599)])
    .optional()
    .catch(undefined),
  param: Text,
  details: z.unknown().optional(),
})

/** Some vendors put a more specific code into the details of an error. */
const Refinement = z.looseObject({ error_code: Text }).transform(({ error_code }) => error_code)

const Whole = Inner.extend({
  error: z.union([z.string(), Inner]).optional().catch(undefined),
  request_id: Text,
  detail: z.unknown().optional(),
})
