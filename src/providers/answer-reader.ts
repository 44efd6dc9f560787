import type { ServerSentEvent } from '../encoding/server-sent-events.ts'
import type { ProviderEvent } from './provider.ts'

/** Understands the events of one answer, in order. Pure but for what it remembers of them. */
export interface AnswerReader {
  /**
   * What an event says: nothing, or more than one thing. A `done` or `error` is the last that is ever said. Items are told
   * when they are whole; a call only when its arguments are.
   */
  take(event: ServerSentEvent): readonly ProviderEvent[]
  /**
   * How much the answer holds so far, also of what is not told yet, such as the arguments of a call. Events that only show that
   * the server is there, such as pings and empty deltas, leave it as it is.
   */
  readonly progress: number
}
