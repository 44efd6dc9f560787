import type { LocalRequest } from '../../src/host/net/http-server.ts'
import { readFaults, type RequestSwitches } from './faults.ts'
import { readJson } from './json-body.ts'
import type { WireRefusal } from './rules/refusal.ts'
import type { VendorDialect } from './rules/request-schemas.ts'

type CheckResult<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly refusal: WireRefusal }

/** The path of a request, the faults to inject, and how strictly it is read. */
export function targetOf({ path, headers }: LocalRequest): CheckResult<RequestSwitches> {
  const [place = '', ...query] = path.split('?')
  const read = readFaults(place, new URLSearchParams(query.join('?')), headers)
  if (read.ok) return { ok: true, ...read.value }
  return { ok: false, refusal: { status: 400, message: read.error.message } }
}

/** The parsed body of a request, if its headers and its JSON are valid. */
export function bodyIn(
  { headers, body }: LocalRequest,
  dialect: VendorDialect,
): CheckResult<{ readonly body: unknown }> {
  if (dialect === 'messages' && !headers['anthropic-version']) {
    return refuse(400, 'anthropic-version: this header is required.')
  }
  if (body === undefined || body.length > MOST_BYTES[dialect]) {
    return refuse(413, 'The request is too large.')
  }
  if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) {
    return refuse(400, 'content-type: the body must be application/json.')
  }
  const read = readJson(body)
  const [fault] = read.faults
  return fault === undefined ? { ok: true, body: read.body } : refuse(400, `${fault}.`)
}

function refuse(status: number, message: string) {
  return { ok: false, refusal: { status, message } } as const
}

/** The vendor's limits; the server may accept less. */
const MOST_BYTES: Readonly<Record<VendorDialect, number>> = {
  messages: 32_000_000,
  responses: 512_000_000,
  chat: 512_000_000,
}

/** The dialect of an answer whose path does not determine one. */
export function vendorOf({ headers }: LocalRequest): VendorDialect {
  return headers['anthropic-version'] === undefined ? 'chat' : 'messages'
}

/** Any key is accepted, but one is required. */
export function missingKey(request: LocalRequest): WireRefusal | undefined {
  if (keyOf(request) !== undefined) return undefined
  const message =
    'The API key is missing. Any key works, as x-api-key or as `Authorization: Bearer KEY`.'
  return { status: 401, message }
}

export function keyOf({ headers }: Pick<LocalRequest, 'headers'>): string | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return bearer ?? (headers['x-api-key'] || undefined)
}

export function noSuchPath(path: string): WireRefusal {
  return { status: 404, message: `The path ${path.slice(0, 200)} does not exist.` }
}

export function notAllowed({ method }: LocalRequest, allowed: string): WireRefusal | undefined {
  if (method === allowed) return undefined
  const message = `${method} is not allowed; use ${allowed}.`
  return { status: 405, message, headers: { allow: allowed } }
}
