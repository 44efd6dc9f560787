import * as z from 'zod'
import { depthWithin } from '../../../encoding/json.ts'
import { quote, shorten } from '../../../encoding/quote.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { LIMITS } from '../../../model/limits.ts'

/** Enough for every route whose body has no message. */
const USUAL_BYTES = 1024 * 1024

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * The body of a request, read up to the limit, and checked by a schema. `unsupported_type` unless it is declared as JSON: a
 * page of another site can send other types without asking.
 */
export async function jsonBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  limit = USUAL_BYTES,
): Promise<Result<T>> {
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) return notJsonType()
  const bytes = await limitedBody(request, limit)
  if (!bytes.ok) return bytes
  const value = parseJson(bytes.value)
  if (value === undefined || !depthWithin(value.json, LIMITS.event_depth)) return notJson()
  return checkValue(schema, value.json)
}

/** A value from outside, checked by a schema. What was sent is not repeated, except names of unknown fields. */
export function checkValue<T>(schema: z.ZodType<T>, value: unknown): Result<T> {
  const found = schema.safeParse(value)
  if (found.success) return ok(found.data)
  const problems = found.error.issues.slice(0, MOST_PROBLEMS).map((issue) => {
    const field = issue.path.map(String).join('.')
    const where = field === '' ? '' : `${field}: `
    if (issue.code === 'invalid_value')
      return `${where}expected ${issue.values.map((one) => quote(String(one))).join(' or ')}`
    if (issue.code === 'too_small' && /^(?:int|number)$/.test(issue.origin))
      return `${where}must be at least ${issue.minimum}`
    if (issue.code !== 'unrecognized_keys') return `${where}${WORDS[issue.code] ?? 'invalid value'}`
    return `${where}unknown field ${quote(shorten(issue.keys[0] ?? '', 80))}`
  })
  return failed('invalid_args', `Invalid request: ${problems.join('; ')}.`, { problems })
}

const MOST_PROBLEMS = 10
const WORDS: Readonly<Record<string, string>> = {
  invalid_type: 'missing or of the wrong type',
  too_big: 'too long',
  too_small: 'too short',
  invalid_format: 'invalid format',
}

/** The bytes of a body, read up to the limit, whatever its length is declared to be. */
export async function limitedBody(
  { headers, body, signal }: Request,
  limit: number,
): Promise<Result<Buffer>> {
  if (Number(headers.get('content-length') ?? 0) > limit) return tooLarge(limit)
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for await (const piece of piecesOf(body)) {
      length += piece.length
      if (length > limit) return tooLarge(limit)
      pieces.push(piece)
    }
  } catch (error) {
    if (signal.aborted) return failed('interrupted', 'The client disconnected.')
    throw error
  }
  return ok(Buffer.concat(pieces))
}

/** A request that has nothing to say may have no body, or an empty JSON object. */
export async function emptyBody(request: Request): Promise<Result<void>> {
  const bytes = await limitedBody(request, USUAL_BYTES)
  if (!bytes.ok) return bytes
  if (bytes.value.length === 0) return ok(undefined)
  const value = parseJson(bytes.value)
  if (value === undefined || !depthWithin(value.json, LIMITS.event_depth)) return notJson()
  const empty = checkValue(NOTHING, value.json)
  return empty.ok ? ok(undefined) : empty
}

const NOTHING = z.strictObject({})

/** The pieces of a body as they arrive. */
export async function* piecesOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) return
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** `undefined` if the bytes are not UTF-8 or not JSON. */
function parseJson(bytes: Buffer): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return undefined
  }
}

function notJsonType(): Failed {
  const message = 'The body must be JSON, with the header Content-Type: application/json.'
  return failed('unsupported_type', message)
}

function notJson(): Failed {
  const message = `The body is not JSON in UTF-8 with at most ${LIMITS.event_depth} levels.`
  return failed('invalid_args', message)
}

function tooLarge(limit: number): Failed {
  return failed('too_large', `The body exceeds ${limit} bytes.`, { limit })
}
