/**
 * A call that the relay answers itself. Guests map the code to an error kind, as they map the codes of vendors. No vendor
 * uses these codes, so that a guest never quotes the relay as the provider.
 */
export interface RefusedCall {
  readonly status: number
  readonly code: (typeof CODES)[keyof typeof CODES]
  readonly message: string
}

/** Only `slow`, `busy` and `unreachable` are worth a retry, which guests limit. */
const CODES = {
  denied: 'relay_refused',
  too_large: 'relay_too_large',
  slow: 'relay_timeout',
  busy: 'relay_busy',
  ceiling: 'relay_ceiling',
  unreachable: 'relay_unreachable',
  bad_answer: 'relay_bad_answer',
} as const

const STATUSES: Readonly<Record<keyof typeof CODES, number>> = {
  denied: 403,
  too_large: 413,
  slow: 408,
  busy: 429,
  ceiling: 402,
  unreachable: 502,
  bad_answer: 502,
}

export function refusal(why: keyof typeof CODES, message: string): RefusedCall {
  return { status: STATUSES[why], code: CODES[why], message }
}

/** The body of the answer, in a format that every dialect reads. */
export function refusalBody({ code, message }: RefusedCall): Buffer {
  return Buffer.from(JSON.stringify({ type: 'error', error: { type: code, code, message } }))
}
