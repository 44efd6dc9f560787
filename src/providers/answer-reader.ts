import { isJsonObject } from '../encoding/json.ts'
import { shorten } from '../encoding/quote.ts'
import type { ServerSentEvent } from '../encoding/server-sent-events.ts'
import { failed, type Failed } from '../model/errors.ts'
import type { ProviderEvent } from './provider.ts'
import { vendorError } from './vendor-error.ts'
import { failureInBody } from './vendor-failure.ts'

/** What one event of a server produces. */
export type Answer = readonly ProviderEvent[]

/** Translates the events of one answer, in order. Pure except for the state it keeps about them. */
export interface AnswerReader {
  /**
   * The provider events that one event of the server produces: none, one or several. Nothing follows a `done` or `error`.
   * An item is returned once it is complete, a tool call once its arguments are.
   */
  take(event: ServerSentEvent): Answer
  /**
   * The length of the answer so far, including what `take` has not returned yet, such as the arguments of an unfinished
   * call. Events without content, such as pings and empty deltas, do not change it.
   */
  readonly progress: number
}

export function errorEvent({ error }: Failed): ProviderEvent {
  return { type: 'error', error }
}

/** `body` is in any format that `failureInBody` reads. */
export function faultEvent(body: unknown, status?: number | null): ProviderEvent {
  const fault = failureInBody(body) ?? { message: '' }
  const error = vendorError({ ...fault, status: fault.status ?? status ?? undefined })
  return { type: 'error', error }
}

const LONGEST_EXPLANATION = 500

/** The details are texts of the vendor; empty ones are left out. */
export function refusalEvent(
  reason: string,
  details: Readonly<Record<string, string | null | undefined>>,
): ProviderEvent {
  const given = Object.entries(details).flatMap(([name, text]) =>
    text ? [[name, shorten(text, LONGEST_EXPLANATION)] as const] : [],
  )
  const facts = { reason, ...Object.fromEntries(given) }
  return errorEvent(failed('refused', 'The model refused to answer.', facts))
}

export const CONTRADICTION: Answer = [
  errorEvent(failed('invalid_response', 'The provider sent events that contradict each other.')),
]

/** Limits on the number of extra facts and on the length of strings that are kept. */
const RAW_FACTS = 16
const RAW_LENGTH = 200

/** Facts of the vendor, and figures of its usage that are not counted. */
export function rawFacts(
  facts: Readonly<Record<string, unknown>>,
  usage: object,
  counted: ReadonlySet<string>,
): Record<string, unknown> {
  const figures = Object.entries(usage)
    .flatMap(([name, figure]: [string, unknown]) =>
      isJsonObject(figure) ? Object.entries(figure) : ([[name, figure]] as const),
    )
    .filter(([name]) => !counted.has(name))
  const small = [...Object.entries(facts), ...figures].filter(([, fact]) =>
    typeof fact === 'string' ? fact !== '' && fact.length <= RAW_LENGTH : typeof fact === 'number',
  )
  return Object.fromEntries(small.slice(0, RAW_FACTS))
}
