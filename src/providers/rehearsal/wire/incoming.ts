import type { LocalRequest } from '../../../host/net/http-server.ts'
import { readFaults, type Switched } from './faults.ts'
import { readJson } from './json-body.ts'
import type { WireRefusal } from './rules/refusal.ts'
import type { VendorDialect } from './rules/request-schemas.ts'

type Checked<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly refusal: WireRefusal }

/** Where a request goes, what is to go wrong with it, and how strictly it is read. */
export function asksFor({ path, headers }: LocalRequest): Checked<Switched> {
  const [place = '', ...query] = path.split('?')
  const read = readFaults(place, new URLSearchParams(query.join('?')), headers)
  if (read.ok) return { ok: true, ...read.value }
  return { ok: false, refusal: { status: 400, message: read.error.message } }
}

/** What the body of a request says, if its head and its form are right. */
export function bodyIn(
  { headers, body }: LocalRequest,
  dialect: VendorDialect,
): Checked<{ readonly body: unknown }> {
  if (dialect === 'messages' && !headers['anthropic-version']) {
    return refuse(400, 'anthropic-version: the header must be there, and is not.')
  }
  if (body === undefined || body.length > MOST_BYTES[dialect]) {
    return refuse(413, 'The request is larger than is taken.')
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

/** By the vendor; the server may take less. */
const MOST_BYTES: Readonly<Record<VendorDialect, number>> = {
  messages: 32_000_000,
  responses: 512_000_000,
  chat: 512_000_000,
}

/** Whose shapes are spoken where the path does not say. */
export function speaker({ headers }: LocalRequest): VendorDialect {
  return headers['anthropic-version'] === undefined ? 'chat' : 'messages'
}

/** Any key will do, but there must be one. */
export function keyless(request: LocalRequest): WireRefusal | undefined {
  if (keyOf(request) !== undefined) return undefined
  const message = 'A key is missing: any will do, as x-api-key or as `Authorization: Bearer KEY`.'
  return { status: 401, message }
}

export function keyOf({ headers }: LocalRequest): string | undefined {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers['authorization'] ?? '') ?? []
  return bearer ?? (headers['x-api-key'] || undefined)
}

export function noSuchPath(path: string): WireRefusal {
  return { status: 404, message: `There is nothing at ${path.slice(0, 200)}.` }
}

export function notAllowed({ method }: LocalRequest, allowed: string): WireRefusal | undefined {
  if (method === allowed) return undefined
  const message = `${method} is not allowed here; ${allowed} is.`
  return { status: 405, message, headers: { allow: allowed } }
}
