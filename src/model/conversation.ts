import type { BlobKey, ResourceId } from './ids.ts'
import type { VariantMade } from './variant-made.ts'
import type { Lifetime } from './segment.ts'

/** An item of a Conversation, in request order and independent of any provider. */
export type ConversationItem = {
  /** The number of the Event it comes from. */
  readonly seq: number
} & ItemContent

export type ItemContent =
  | {
      readonly kind: 'user'
      readonly parts: readonly Part[]
      /** All parts are one text, which is sent as a plain string where a dialect has that form. */
      readonly form?: 'string'
    }
  | {
      readonly kind: 'developer'
      readonly parts: readonly Part[]
      /** The item is between two Turns, so the next item is never from the model. */
      readonly between?: true
    }
  | {
      readonly kind: 'assistant'
      readonly parts: readonly Part[]
      /** The model's label for this part of its answer. */
      readonly phase?: string
    }
  | {
      readonly kind: 'reasoning'
      readonly dialect: string
      readonly model: string
      /** Opaque; replayed verbatim to the dialect and model that made it. */
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

/** A block of an item. Each becomes a separate segment, so that it can be retired alone. */
export type Part = TextPart | BlobPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** The Resource whose bytes it replaces. */
  readonly resource?: ResourceId
  readonly lifetime: Lifetime
}

/** Bytes that are fetched before encoding. */
export interface BlobPart {
  readonly type: 'blob'
  readonly blob: BlobKey
  readonly media_type: string
  /** The Resource it belongs to; absent for the body of a Skill, a mention and project instructions. */
  readonly resource?: ResourceId
  /** Its name for people and models. */
  readonly handle?: string
  /** The length of a text that belongs to no Resource, if known. */
  readonly text_bytes?: number
  /** The size of an image in pixels, if known. */
  readonly width?: number
  readonly height?: number
  /** For the body of a Skill that refers to its arguments: what takes their place when it is fetched. */
  readonly args?: string
  /** The `TextDecoder` label of text that is not UTF-8; the bytes are converted when they are fetched. */
  readonly charset?: string
  /** Set when `blob` is a variant: the hash of the original, and how the variant was made. */
  readonly variant?: { readonly of: string; readonly params?: VariantMade }
  readonly lifetime: Lifetime
  /** The bytes, once fetched. */
  readonly bytes?: Buffer
}
