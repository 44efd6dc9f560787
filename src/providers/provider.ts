import type { ConversationItem } from '../model/conversation.ts'
import type { HawserError } from '../model/errors.ts'
import type { BreakCause, ResetReason } from '../model/prefix-break.ts'
import type { Mark, Segment } from '../model/segment.ts'
import type { Surface } from '../model/surface.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'

/** The words of a model backend. Pure: the same items and surface give the same bytes on every machine, with or without a key. */
export interface Dialect {
  readonly dialect: 'responses' | 'messages' | 'chat' | 'rehearsal'
  /** Segments in cache order: parameters, tools, system blocks, then items. */
  readonly encode: (items: readonly ConversationItem[], surface: Surface) => Segment[]
  /** The body, by joining the segments' bytes. */
  readonly frame: (segments: readonly Segment[], framing: Framing) => Buffer
}

/** What a body holds beside its segments. */
export interface Framing {
  readonly cacheKey: string
  /** At most four, in order; a dialect without marks leaves them out. */
  readonly marks: readonly Mark[]
  /** Memory that may be used. The bytes are the same with and without. */
  readonly spent?: SpentBody | undefined
}

/** A body of the same leading segments, of which there are `count`, that nobody reads any more. */
export interface SpentBody {
  readonly body: Buffer
  readonly count: number
}

/** A model backend. Beside the pure members of its dialect, it has those that touch the world. */
export interface Provider extends Dialect {
  /**
   * Sends a finished body, which may be read until the stream ends, and yields what comes back. Ends after exactly one `done` or `error`; nothing follows. Aborting
   * `signal` ends it with an `interrupted` error. May be called once a body.
   */
  readonly stream: (body: Buffer, signal: AbortSignal) => AsyncIterable<ProviderEvent>
  /**
   * The way a request goes, for providers that have more than one. An error of it whose details say `again` was about the way
   * alone, and nothing was shown: the next passage of the same request goes another one.
   */
  readonly passage?: (request: Outgoing) => Passage
  /** A Session is over here: what was kept open for it is closed. */
  readonly leave?: (session: string) => void
}

/** A request as far as the way it goes depends on it. */
export interface Outgoing {
  /** Whose it is: what a server remembers is remembered of one Session. */
  readonly session: string
  readonly body: Buffer
  readonly sha256: string
  readonly segments: readonly Segment[]
  /** The last request of the Session, when this one begins with all of it. */
  readonly last?: { readonly sha256: string; readonly count: number } | undefined
  /** Why it does not begin with all of it, as Events foretold. */
  readonly brokenBy?: BreakCause | undefined
  readonly framing: Framing
}

/** The way one request goes, chosen before its intention is recorded. */
export interface Passage {
  readonly transport: string
  /** Bytes that leave, where they are not the body. */
  readonly sentBytes?: number
  readonly continuation?: Continuation
  /** As `Provider.stream`. May be called once. */
  readonly stream: (signal: AbortSignal) => AsyncIterable<ProviderEvent>
}

/** Whether only what is new was sent; if not, why. */
export interface Continuation {
  readonly used: boolean
  readonly reset_reason?: ResetReason
}

/** An `item` is complete and final; deltas are for whoever watches and are never the only carrier of anything. */
export type ProviderEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | { readonly type: 'item'; readonly item: AnswerItem }
  | {
      readonly type: 'done'
      /** In the provider's own word. */
      readonly stop_reason: string
      /** Absent where the model came to its end. */
      readonly cut?: Cut
      /** The provider interrupted the model. Sent back with all that was said, it continues. */
      readonly paused?: true
      readonly usage: CallUsage
      /** Figures of the vendor that have no name here. */
      readonly raw?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'error'; readonly error: HawserError }

/** Why an answer is not whole, and how many calls did not arrive whole: those are no items. */
export type Cut = Pick<AnswerCut, 'reason' | 'lost_calls'>

export type AnswerItem =
  | {
      readonly kind: 'text'
      readonly text: string
      /** What the model called this part of its answer; goes back with it. */
      readonly phase?: string
    }
  | { readonly kind: 'reasoning'; readonly item: unknown }
  | {
      readonly kind: 'tool_call'
      readonly call_id: string
      readonly name: string
      readonly arguments: string
    }

/** `input` counts all prompt tokens, cached ones included. */
export interface CallUsage {
  readonly input: number
  readonly cached_read: number
  readonly cache_write: number
  readonly output: number
  readonly reasoning: number
}
