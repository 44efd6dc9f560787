import type { ErrorKind } from '../model/errors.ts'
import { MEDIA_CODES } from './refused-media.ts'
import type { VendorFailure } from './vendor-failure.ts'

/**
 * Checks from the most specific sign to the most general: code, type, status. Vendors report an exhausted account and a full
 * context window under general codes and statuses, so for those, and only those, the message text is read. Pure.
 */
export function vendorKind({ status, type, code, message }: VendorFailure): ErrorKind {
  return (
    word(DECISIVE_WORDS, code) ??
    prose(USAGE_STATUSES, USAGE_PROSE, status, message) ??
    missingModel(status, message) ??
    word(DECISIVE_WORDS, type) ??
    (status === undefined ? undefined : DECISIVE_STATUSES.get(status)) ??
    prose(REQUEST_STATUSES, REQUEST_PROSE, status, message) ??
    (status === undefined ? generalWord(code, type) : generalStatus(status))
  )
}

/** The code of a call that the relay of a guest refuses because the Instance has spent what it may. */
export const RELAY_CEILING = 'relay_ceiling'

type Words = ReadonlyMap<string, ErrorKind>

function word(words: Words, code: string | undefined): ErrorKind | undefined {
  return code === undefined ? undefined : words.get(code.toLowerCase())
}

/** An error inside a stream has no status, so any message text is considered. */
function prose(
  statuses: ReadonlySet<number>,
  patterns: readonly (readonly [RegExp, ErrorKind])[],
  status: number | undefined,
  message: string,
): ErrorKind | undefined {
  if (status !== undefined && !statuses.has(status)) return undefined
  return patterns.find(([pattern]) => pattern.test(message))?.[1]
}

/** Vendors use the same status and type for an unknown path, which means a wrong base URL. */
function missingModel(status: number | undefined, message: string): ErrorKind | undefined {
  return status === 404 && MISSING_MODEL.test(message) ? 'model_not_found' : undefined
}

const MISSING_MODEL =
  /^model: |\bmodel\b.{0,200}\b(?:does not exist|not found|not exist)\b|\bno such model\b|\bunknown model\b/i

/** An error inside a stream with only unknown codes counts as an invalid response. */
function generalWord(code: string | undefined, type: string | undefined): ErrorKind {
  return word(GENERAL_WORDS, code) ?? word(GENERAL_WORDS, type) ?? 'invalid_response'
}

/** 408, 409, 425 and every 5xx are server errors that may be temporary: `overloaded`, with the status in the details. */
function generalStatus(status: number): ErrorKind {
  if (status < 300) return 'invalid_response'
  if (status < 400) return 'network'
  if (status === 413) return 'too_large'
  return status >= 500 || PASSING_STATUSES.has(status) ? 'overloaded' : 'invalid_args'
}

const DECISIVE_STATUSES: ReadonlyMap<number, ErrorKind> = new Map([
  [401, 'auth'],
  [402, 'usage_limit'],
  [403, 'auth'],
  [404, 'not_found'],
  [429, 'rate_limited'],
  [503, 'overloaded'],
  [529, 'overloaded'],
])

const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 409, 425])
const USAGE_STATUSES: ReadonlySet<number> = new Set([400, 402, 403, 429])
/** Includes 500: some self-hosted servers report a full context window with it. */
const REQUEST_STATUSES: ReadonlySet<number> = new Set([400, 413, 422, 500])

const USAGE_PROSE: readonly (readonly [RegExp, ErrorKind])[] = [
  [/credit balance is too low|\b(?:spend(?:ing)?|billing|usage) limits?\b/i, 'usage_limit'],
  [/\b(?:out of|insufficient|not enough) (?:credits?|funds|balance)\b/i, 'usage_limit'],
]

const REQUEST_PROSE: readonly (readonly [RegExp, ErrorKind])[] = [
  [/\bprompt is too long\b|\btoo many (?:input |prompt )?tokens\b/i, 'context_overflow'],
  [/\bmaximum (?:context|prompt) length\b|\bcontext (?:window|limit)\b/i, 'context_overflow'],
  [/\bexceed\w* the (?:available )?context (?:size|length)\b/i, 'context_overflow'],
  [/\binput (?:length|token count)\b.{0,40}\bexceeds?\b/i, 'context_overflow'],
  [/\breduce the length of the (?:messages|prompt|input)\b/i, 'context_overflow'],
  [/\bcontent (?:\w+ )?polic(?:y|ies)\b|\busage polic(?:y|ies)\b/i, 'refused'],
  [/\bflagged (?:as|by|for)\b|\bsafety (?:system|filters?)\b/i, 'refused'],
]

const DECISIVE_WORDS: Words = new Map([
  ...each('auth', [
    'account_deactivated',
    'authentication_error',
    'invalid_api_key',
    'invalid_authentication',
    'invalid_organization',
    'organization_on_hold',
    'permission_denied',
    'permission_error',
    'unauthorized',
  ]),
  ...each('usage_limit', [
    'billing_error',
    'billing_hard_limit_reached',
    'billing_not_active',
    'enforced_spend_limit_reached',
    'insufficient_balance',
    'insufficient_credits',
    'insufficient_quota',
    'usage_limit_reached',
  ]),
  ...each('rate_limited', [
    'ramp_limit_exceeded',
    'rate_limit_error',
    'rate_limit_exceeded',
    'too_many_requests',
  ]),
  ...each('overloaded', [
    'engine_overloaded',
    'overloaded_error',
    'server_is_overloaded',
    'service_unavailable',
    'slow_down',
  ]),
  ...each('context_overflow', [
    'context_length_exceeded',
    'context_window_exceeded',
    'exceed_context_size_error',
    'model_context_window_exceeded',
  ]),
  ...each('too_large', [
    'request_body_too_large_after_decoding',
    'request_too_large',
    'string_above_max_length',
  ]),
  ...each('model_not_found', ['model_not_found']),
  // What the relay of a guest adds to the words of the vendors.
  ...each('not_configured', ['relay_refused']),
  ...each('too_large', ['relay_too_large']),
  ...each('overloaded', ['relay_timeout']),
  ...each('rate_limited', ['relay_busy']),
  ...each('usage_limit', [RELAY_CEILING]),
  ...each('network', ['relay_unreachable']),
  ...each('invalid_response', ['relay_bad_answer']),
  ...each('not_found', ['not_found_error']),
  ...each('refused', [
    'bio_policy',
    'content_filter',
    'content_policy',
    'content_policy_violation',
    'cyber_policy',
    'image_content_policy_violation',
    'moderation_blocked',
    'refusal',
    'responsibleaipolicyviolation',
  ]),
])

const GENERAL_WORDS: Words = new Map([
  ...each('overloaded', [
    'api_error',
    'internal_error',
    'internal_server_error',
    'server_error',
    'timeout_error',
  ]),
  ...each('invalid_args', [
    'badrequesterror',
    'invalid_prompt',
    'invalid_request_error',
    ...MEDIA_CODES,
  ]),
])

function each(kind: ErrorKind, words: readonly string[]): [string, ErrorKind][] {
  return words.map((one) => [one, kind])
}
