import type { ServerSentEvent } from '../encoding/server-sent-events.ts'
import type { ProviderEvent } from './provider.ts'

/** Translates the events of one answer, in order. Pure except for the state it keeps about them. */
export interface AnswerReader {
  /**
   * The provider events that one event of the server produces: none, one or several. Nothing follows a `done` or `error`.
   * An item is returned once it is complete, a tool call once its arguments are.
   */
  take(event: ServerSentEvent): readonly ProviderEvent[]
  /**
   * The length of the answer so far, including what `take` has not returned yet, such as the arguments of an unfinished
   * call. Events without content, such as pings and empty deltas, do not change it.
   */
  readonly progress: number
}
