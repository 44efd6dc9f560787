import type { VendorDialect } from './request-schemas.ts'
import type { ValuePath, SchemaProblem } from './schema-problems.ts'

/** The error response to a request. */
export interface WireRefusal {
  readonly status: number
  readonly message: string
  /** The place in the body that it is about, if any. */
  readonly at?: ValuePath
  /** OpenAI's error code. */
  readonly code?: string
  /** In addition to the headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The refusal of an invalid request. */
export function wrong(at: ValuePath, message: string, code = 'invalid_value'): WireRefusal {
  return { status: 400, message, at, code }
}

/** The refusal of a valid request for something that only the vendor can do. */
export function notRehearsed(at: ValuePath, what: string): WireRefusal {
  return wrong(at, `the rehearsal model ${what}`, 'unsupported_parameter')
}

/** Reports the first problem, as vendors do. */
export function misshapen([first]: readonly SchemaProblem[]): WireRefusal {
  if (first === undefined) return { status: 400, message: 'The body is not a request.' }
  return wrong(first.at, WORDS[first.kind]?.(first) ?? first.message, CODES[first.kind])
}

const CODES: Readonly<Record<SchemaProblem['kind'], string>> = {
  missing: 'missing_required_parameter',
  unknown: 'unknown_parameter',
  type: 'invalid_type',
  value: 'invalid_value',
}

const WORDS: Readonly<Partial<Record<SchemaProblem['kind'], (problem: SchemaProblem) => string>>> =
  {
    missing: () => 'is required',
    unknown: () => 'is not a known field',
  }

/** The refusal of the first rule that is broken. */
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

/** The refusal in the vendor's format. */
export function refusalBody(
  dialect: VendorDialect,
  refusal: WireRefusal,
  requestId: string,
): object {
  if (dialect === 'messages') {
    const error = {
      type: ANTHROPIC_TYPES[refusal.status] ?? 'api_error',
      message: refusalText(refusal),
    }
    return { type: 'error', error, request_id: requestId }
  }
  return { error: openAiError(refusal) }
}

/** The value of `error`, in a response and in a socket message. */
export function openAiError(refusal: WireRefusal): object {
  const { status, at, code } = refusal
  const [type, usual = null] = OPENAI_TYPES[status] ?? ['invalid_request_error']
  const param = at === undefined ? null : withBrackets(at)
  return { message: refusalText(refusal, withBrackets), type, param, code: code ?? usual }
}

/** The message, after the place that it is about. */
export function refusalText({ message, at }: WireRefusal, written = withDots): string {
  return at === undefined || at.length === 0 ? message : `${written(at)}: ${message}`
}

/** `messages.0.content.1` */
function withDots(at: ValuePath): string {
  return at.join('.')
}

/** `messages[0].content[1]` */
function withBrackets(at: ValuePath): string {
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

/** The type, and the default code. */
const OPENAI_TYPES: Readonly<Record<number, readonly [type: string, code?: string]>> = {
  401: ['invalid_request_error', 'invalid_api_key'],
  405: ['invalid_request_error', 'method_not_supported'],
  413: ['invalid_request_error', 'request_too_large'],
  429: ['requests', 'rate_limit_exceeded'],
  500: ['server_error', 'server_error'],
  503: ['server_error', 'server_is_overloaded'],
  529: ['server_error', 'server_is_overloaded'],
}
