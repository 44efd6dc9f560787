import type { BlobKey, ResourceId } from './ids.ts'
import type { VariantMade } from './variant-made.ts'
import type { Lifetime } from './segment.ts'

/** What stands in a Conversation, in the order of a request, in no provider's words. */
export type ConversationItem = {
  /** Number of the Event it comes from. */
  readonly seq: number
} & ItemContent

export type ItemContent =
  | { readonly kind: 'user' | 'developer'; readonly parts: readonly Part[] }
  | {
      readonly kind: 'assistant'
      readonly parts: readonly Part[]
      /** What the model called this part of its answer. */
      readonly phase?: string
    }
  | {
      readonly kind: 'reasoning'
      readonly dialect: string
      readonly model: string
      /** Opaque; replays verbatim to the dialect and model that made it. */
      readonly item: unknown
    }
  | {
      readonly kind: 'tool_call'
      readonly call_id: string
      readonly name: string
      /** The model's own text, byte for byte. */
      readonly arguments: string
    }
  | {
      readonly kind: 'tool_result'
      readonly call_id: string
      readonly name: string
      readonly outcome: 'ok' | 'failed' | 'denied' | 'unknown'
      readonly output: string
    }

/** A block of an item. Each block becomes a segment of its own, so that it can be retired alone. */
export type Part = TextPart | BlobPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** The Resource whose bytes it stands for. */
  readonly resource?: ResourceId
  readonly lifetime: Lifetime
}

/** Bytes that are fetched before encoding. */
export interface BlobPart {
  readonly type: 'blob'
  readonly blob: BlobKey
  readonly media_type: string
  /** The Resource it belongs to; a Skill's body belongs to none. */
  readonly resource?: ResourceId
  /** What people and models call it. */
  readonly handle?: string
  /** Of an image, where they are known. */
  readonly width?: number
  readonly height?: number
  /** Of text that is not UTF-8, by the name that `TextDecoder` knows; the bytes are converted when they are fetched. */
  readonly charset?: string
  /** Set when `blob` is a variant: the hash of the original, and how the variant was made. */
  readonly variant?: { readonly of: string; readonly made?: VariantMade }
  readonly lifetime: Lifetime
  /** The bytes, once they were fetched. */
  readonly bytes?: Buffer
}
