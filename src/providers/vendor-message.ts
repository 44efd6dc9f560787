import * as z from 'zod'
import { parseJson } from '../encoding/json.ts'

/** What a vendor says about a failure, in its own words. `status` is absent where it said so in the middle of an answer. */
export interface VendorSaid {
  readonly status?: number | undefined
  readonly type?: string | undefined
  readonly code?: string | undefined
  readonly param?: string | undefined
  readonly message: string
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
}

interface Named {
  get(name: string): string | null
}

/** What an answer with an error status says: its body, and what its headers add. Pure. */
export function saidBy(
  { status, headers }: { readonly status: number; readonly headers: Named },
  text: string,
  now: number,
): VendorSaid {
  const body = saidIn(parseJson(text)) ?? plainText(headers, text)
  const requestId = headers.get('request-id') ?? headers.get('x-request-id') ?? body.requestId
  return { ...body, status, requestId, retryAfterMs: retryAfterMs(headers, now) }
}

/** What the body of an error says, in any of the shapes that vendors and the servers compatible with them use. Pure. */
export function saidIn(body: unknown): VendorSaid | undefined {
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
  // Some servers give a number in place of a word: it is a status, also when the answer came with another.
  const status = typeof inner.code === 'number' ? inner.code : undefined
  return { message: message ?? '', status, type, code, param, requestId }
}

const HOUR_MS = 3_600_000

/** How long the server asks to wait, at most an hour. `now` counts where it names a time of day. Pure. */
export function retryAfterMs(headers: Named, now: number): number | undefined {
  const said = headers.get('retry-after') ?? ''
  const seconds = figure(said)
  const exact = figure(headers.get('retry-after-ms') ?? '')
  const asked = exact ?? (seconds === undefined ? Date.parse(said) - now : seconds * 1000)
  return Number.isFinite(asked) ? Math.ceil(Math.min(Math.max(asked, 0), HOUR_MS)) : undefined
}

function figure(text: string): number | undefined {
  return /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined
}

/** A page made for browsers says nothing that is worth showing. */
function plainText(headers: Named, text: string): VendorSaid {
  const isPage = headers.get('content-type')?.includes('html') === true || /^\s*</.test(text)
  return { message: isPage ? '' : text }
}

/** Absent where it is something else: no vendor's mistake may hide what else it says. */
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

/** Some vendors refine their code in the details of an error. */
const Refinement = z.looseObject({ error_code: Text }).transform(({ error_code }) => error_code)

const Whole = Inner.extend({
  error: z.union([z.string(), Inner]).optional().catch(undefined),
  request_id: Text,
  detail: z.unknown().optional(),
})
