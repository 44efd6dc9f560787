import type { BlobStore } from '../blobs/store.ts'
import { predictBreak, type Break, type Made } from '../contract/predict.ts'
import { sharedPrefix } from '../contract/prefix.ts'
import { sha256 } from '../encoding/hash.ts'
import { Conversation, REFOLD } from '../history/conversation.ts'
import type { ConversationItem } from '../model/conversation.ts'
import type { WholeEvent } from '../model/event.ts'
import type { TurnId } from '../model/ids.ts'
import type { Segment } from '../model/segment.ts'
import type { Surface } from '../model/surface.ts'
import type { Provider } from '../providers/provider.ts'
import { loadParts } from './load-parts.ts'

/** What a request is made under. */
export interface RequestParts {
  readonly provider: Provider
  readonly surface: Surface
  readonly store: BlobStore
}

/** A request as it is sent, byte for byte. */
export interface ComposedRequest {
  readonly body: Buffer
  readonly sha256: string
  readonly segments: readonly Segment[]
  /** What it was made from, so that the next one can be compared with it. */
  readonly made: Made
}

/**
 * Composes the requests of one Turn, from Events alone: the same Events give the same bytes, whoever asks and whenever. What
 * was folded and encoded for one request is not touched again for the next.
 */
export class RequestComposer {
  readonly #parts: RequestParts
  readonly #turn: TurnId | undefined
  readonly #surfaceSegments: readonly Segment[]
  #folded = 0
  #conversation: Conversation | undefined
  #segments: Segment[] = []
  #encodedItems = 0

  constructor(parts: RequestParts, turn: TurnId | undefined) {
    this.#parts = parts
    this.#turn = turn
    this.#surfaceSegments = parts.provider.encode([], parts.surface)
  }

  async compose(events: readonly WholeEvent[]): Promise<ComposedRequest> {
    await this.#encodeNew(this.#fold(events))
    const segments = [...this.#segments]
    const body = this.#parts.provider.frame(segments, [])
    const { provider, surface } = this.#parts
    const made = {
      dialect: provider.dialect,
      surface,
      surfaceSegments: this.#surfaceSegments,
      events: [...events],
      turn: this.#turn,
    }
    return { body, sha256: sha256(body), segments, made }
  }

  #fold(events: readonly WholeEvent[]): readonly ConversationItem[] {
    const fresh = events.slice(this.#folded)
    this.#folded = events.length
    if (this.#conversation === undefined || fresh.some(({ type }) => REFOLD.has(type))) {
      const replay = this.#parts.surface.params.replay
      this.#conversation = new Conversation(events, { turn: this.#turn, replay })
      this.#segments = [...this.#surfaceSegments]
      this.#encodedItems = 0
    } else {
      for (const event of fresh) this.#conversation.add(event)
    }
    return this.#conversation.items()
  }

  async #encodeNew(items: readonly ConversationItem[]): Promise<void> {
    const { provider, surface, store } = this.#parts
    const fresh = await loadParts(items.slice(this.#encodedItems), store)
    this.#encodedItems = items.length
    this.#segments.push(...provider.encode(fresh, surface).slice(this.#surfaceSegments.length))
  }
}

/** What a request shares with the one before it. */
export interface Shared {
  readonly shared_prefix_bytes: number
  readonly prefix_break?: { readonly at: number; readonly cause: Break['cause'] | 'unknown' }
}

/** Compares bytes, and names the cause that Events foretold. A break that none foretold is a bug, and is called unknown. */
export function sharedWith(before: ComposedRequest | undefined, next: ComposedRequest): Shared {
  if (before === undefined) return { shared_prefix_bytes: 0 }
  const foretold = predictBreak(before.made, before.segments, next.made)
  const apart = foretold?.cause === 'dialect' || foretold?.cause === 'model'
  const shared = sharedPrefix(before.segments, next.segments)
  const bytes = apart ? 0 : shared.bytes
  if (shared.whole && !apart) return { shared_prefix_bytes: bytes }
  const cause = foretold?.at === bytes ? foretold.cause : 'unknown'
  return { shared_prefix_bytes: bytes, prefix_break: { at: bytes, cause } }
}
