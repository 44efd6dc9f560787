import type { VendorDialect } from './request-schemas.ts'
import type { Place, SchemaProblem } from './schema-problems.ts'

/** Why a request gets no answer of the model. */
export interface WireRefusal {
  readonly status: number
  readonly message: string
  /** What it is about, when that is something in the body. */
  readonly at?: Place
  /** The word that OpenAI has for it. */
  readonly code?: string
  /** Beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A wrong request. */
export function wrong(at: Place, message: string, code = 'invalid_value'): WireRefusal {
  return { status: 400, message, at, code }
}

/** A right request for what only the vendor itself can do. */
export function notRehearsed(at: Place, what: string): WireRefusal {
  return wrong(at, `the rehearsal model ${what}`, 'unsupported_parameter')
}

/** By the first of the problems, as vendors do. */
export function misshapen([first]: readonly SchemaProblem[]): WireRefusal {
  if (first === undefined) return { status: 400, message: 'The body is not a request.' }
  return wrong(first.at, WORDS[first.kind]?.(first) ?? first.told, CODES[first.kind])
}

const CODES: Readonly<Record<SchemaProblem['kind'], string>> = {
  missing: 'missing_required_parameter',
  unknown: 'unknown_parameter',
  type: 'invalid_type',
  value: 'invalid_value',
}

const WORDS: Readonly<Partial<Record<SchemaProblem['kind'], (problem: SchemaProblem) => string>>> =
  {
    missing: () => 'must be there, and is not',
    unknown: () => 'is not known there',
  }

/** The first refusal that any of the rules has. */
export function firstOf<Body>(
  rules: readonly ((body: Body) => WireRefusal | undefined)[],
  body: Body,
): WireRefusal | undefined {
  for (const rule of rules) {
    const refusal = rule(body)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** The refusal as a vendor writes it. */
export function refusalBody(
  dialect: VendorDialect,
  refusal: WireRefusal,
  requestId: string,
): object {
  if (dialect === 'messages') {
    const error = { type: ANTHROPIC_TYPES[refusal.status] ?? 'api_error', message: about(refusal) }
    return { type: 'error', error, request_id: requestId }
  }
  return { error: openAiError(refusal) }
}

/** What stands under `error`, in an answer and in a message of a socket. */
export function openAiError(refusal: WireRefusal): object {
  const { status, at, code } = refusal
  const [type, usual = null] = OPENAI_TYPES[status] ?? ['invalid_request_error']
  const param = at === undefined ? null : withBrackets(at)
  return { message: about(refusal, withBrackets), type, param, code: code ?? usual }
}

function about({ message, at }: WireRefusal, written = withDots): string {
  return at === undefined || at.length === 0 ? message : `${written(at)}: ${message}`
}

/** `messages.0.content.1` */
function withDots(at: Place): string {
  return at.join('.')
}

/** `messages[0].content[1]` */
function withBrackets(at: Place): string {
  return at
    .map((step, index) =>
      typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`,
    )
    .join('')
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
}

/** The type, and the code where the refusal has none of its own. */
const OPENAI_TYPES: Readonly<Record<number, readonly [type: string, code?: string]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  405: ['invalid_request_error', 'method_not_supported'],
  413: ['invalid_request_error', 'request_too_large'],
  429: ['requests', 'rate_limit_exceeded'],
  500: ['server_error', 'server_error'],
  503: ['server_error', 'server_is_overloaded'],
  529: ['server_error', 'server_is_overloaded'],
}
