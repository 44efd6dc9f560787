import type { ConversationItem } from '../model/conversation.ts'
import type { HawserError } from '../model/errors.ts'
import type { BreakCause, ResetReason } from '../model/prefix-break.ts'
import type { RequestTransport } from '../model/remote-providers.ts'
import type { Mark, Segment } from '../model/segment.ts'
import type { Surface, SurfaceParams } from '../model/surface.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'

export type DialectName = 'responses' | 'messages' | 'chat' | 'rehearsal'

/** The wire format of a provider. Pure: the same items and surface give the same bytes on every machine, with or without a key. */
export interface Dialect {
  readonly dialect: DialectName
  /**
   * Segments in cache order: parameters, tools, system blocks, then items. Additional items only append segments. `behind` is
   * the segment that the first item follows, if that is not the last one of the surface: encoding item by item gives the same
   * segments as encoding all at once. Does not modify its arguments and never throws.
   */
  readonly encode: (
    items: readonly ConversationItem[],
    surface: Surface,
    behind?: Segment,
  ) => Segment[]
  /**
   * The request body: JSON that contains the bytes of every segment, items in their order and the segments before them where
   * the dialect puts them, each behind its bracket. Appending items leaves the bytes before them unchanged, except cache marks.
   */
  readonly buildBody: (segments: readonly Segment[], bodyOptions: BodyOptions) => Buffer
}

/**
 * Whether notes of Hawser can be blocks of the user between tags, so that no other text may contain the tag. In `messages`
 * they can with any late role, because the vendor does not accept a system message everywhere. Pure.
 */
export function fencesNotes(dialect: DialectName, { late_role }: SurfaceParams): boolean {
  return dialect === 'messages' || late_role === 'user'
}

/** What a body contains besides its segments, and memory to build it in. */
export interface BodyOptions {
  readonly cacheKey: string
  /** At most four, in order; a dialect without cache marks ignores them. */
  readonly marks: readonly Mark[]
  /** Memory that may be overwritten. It does not affect the resulting bytes. */
  readonly spentBody?: SpentBody | undefined
}

/** A body that is no longer read. Its first `count` segments equal those of the body to build. */
export interface SpentBody {
  readonly body: Buffer
  readonly count: number
}

/** A service that runs models: a dialect plus the members that perform I/O. */
export interface Provider extends Dialect {
  /**
   * Sends a finished body and yields the response: deltas before the item they belong to, and nothing after exactly one `done`
   * or `error`. The body must not change until the stream ends. Never throws: every failure is that `error`, with a kind. A
   * tool call that arrived in part is not an item.
   *
   * Aborting `signal` ends the stream with an `interrupted` error at once, without waiting for the server; if it was aborted
   * before, nothing is sent. A server that sends nothing for too long ends it with `stream_idle`. The consumer may stop early,
   * which ends the call. Calls may run concurrently, except two deliveries of one Session.
   */
  readonly stream: (body: Buffer, signal: AbortSignal) => AsyncIterable<ProviderEvent>
  /**
   * Chooses the transport of a request, for providers with more than one. If the details of its error contain `again`, only
   * the transport failed and nothing was shown: the next delivery of the same request uses another transport.
   */
  readonly delivery?: (request: OutgoingRequest) => Delivery
  /** Closes what was kept open for a Session. */
  readonly leave?: (session: string) => void
}

/** A request with everything that the choice of its transport depends on. */
export interface OutgoingRequest {
  /** The Session of the request: a server keeps its state per Session. */
  readonly session: string
  readonly model: string
  readonly body: Buffer
  readonly sha256: string
  readonly segments: readonly Segment[]
  /** The previous request of the Session to the same model, if this one starts with all of it. */
  readonly last?: { readonly sha256: string; readonly count: number } | undefined
  /** Why this request does not start with the previous one, as predicted from Events. */
  readonly brokenBy?: BreakCause | undefined
  readonly bodyOptions: BodyOptions
}

/** How one request is delivered, chosen before the request is recorded. */
export interface Delivery {
  readonly transport: RequestTransport
  /** Bytes to send, if they differ from the body. */
  readonly sentBytes?: number
  readonly continuation?: Continuation
  /** Like `Provider.stream`. May be called once. */
  readonly stream: (signal: AbortSignal) => AsyncIterable<ProviderEvent>
}

/** Whether only new items were sent; if not, why. */
export interface Continuation {
  readonly used: boolean
  readonly reset_reason?: ResetReason
}

/** An `item` is complete and final. Deltas are for live display only: items repeat all of their content. */
export type ProviderEvent =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | { readonly type: 'item'; readonly item: AnswerItem }
  | {
      readonly type: 'done'
      /** In the provider's own words. */
      readonly stop_reason: string
      /** Absent if the model finished its answer. */
      readonly cut?: Cut
      /** The provider paused the model, which continues when the whole answer so far is sent back. */
      readonly isPaused?: true
      readonly usage: CallUsage
      /** Figures of the vendor without a counterpart in `usage`. */
      readonly raw?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'error'; readonly error: HawserError }

/** Why an answer is incomplete, and how many calls arrived incomplete and are therefore not items. */
export type Cut = Pick<AnswerCut, 'reason' | 'lost_calls'>

export type AnswerItem =
  | {
      readonly kind: 'text'
      readonly text: string
      /** The model's label for this part of its answer; sent back with it. */
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
