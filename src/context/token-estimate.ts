import { Conversation } from '../history/conversation.ts'
import { historyOf } from '../history/history.ts'
import { withoutSummaryTurns } from '../history/summary-turns.ts'
import { SessionResources } from '../history/session-resources.ts'
import type { ConversationItem, Part } from '../model/conversation.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import { utf8Bytes } from '../model/shape.ts'
import type { Surface } from '../model/surface.ts'
import { answeredCalls } from './answered-calls.ts'
import { shownTokens } from './shown-tokens.ts'

/** The next request of a Session, as far as its size depends on it. */
export interface EstimatedRequest {
  readonly surface: Surface
  /** The Turn that the request belongs to; `undefined` between two Turns. */
  readonly turn?: TurnId | undefined
}

/** An item of a Conversation, and its estimated length in a request. */
export interface SizedItem {
  readonly item: ConversationItem
  readonly bytes: number
}

/**
 * Tokens per byte of text in this Session, the same before and after a summary is requested. Learned from the raw Events only,
 * so that a resumed Session learns the same.
 */
export function tokensPerByte(events: readonly WholeEvent[]): number {
  return shownTokens(answeredCalls(withoutSummaryTurns(historyOf(events).events))).perByte
}

/** The estimated length of the next request, in bytes of text. */
export function requestBytes(events: readonly WholeEvent[], request: EstimatedRequest): number {
  return surfaceBytes(request.surface) + sumOf(sizedItems(events, request))
}

/** The items of the next request, in its order. */
export function sizedItems(
  events: readonly WholeEvent[],
  { surface, turn }: EstimatedRequest,
): SizedItem[] {
  const { replay } = surface.params
  const resources = new SessionResources(events)
  const sized = (item: ConversationItem) => ({ item, bytes: itemBytes(item, surface, resources) })
  return new Conversation(events, { turn, replay }).items().map(sized)
}

export function surfaceBytes({ system, tools }: Surface): number {
  return textBytes(system) + textBytes(tools)
}

export function sumOf(items: readonly SizedItem[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** The number of tokens of that many bytes. All figures of a plan are computed by this function. */
export function tokensOf(bytes: number, perByte: number): number {
  return Math.ceil(bytes * perByte)
}

/** An image or a PDF counts as much text, whatever its size: providers count its tokens by other rules. */
export const MEDIA_BYTES = 2_000

/** The role and the brackets of an item. */
const ITEM_BYTES = 40

function itemBytes(item: ConversationItem, { model }: Surface, resources: SessionResources) {
  switch (item.kind) {
    case 'user':
    case 'developer':
    case 'assistant':
      return item.parts.reduce((sum, part) => sum + partBytes(part, resources), ITEM_BYTES)
    case 'reasoning':
      // Reasoning is sent only to the model that wrote it.
      return item.model === model ? ITEM_BYTES + textBytes(item.item) : 0
    case 'tool_call':
      return ITEM_BYTES + textBytes([item.call_id, item.name, item.arguments])
    case 'tool_result':
      return ITEM_BYTES + resultBytes(item)
  }
}

/** The length of a result with this output. */
export function resultBytes({
  call_id,
  output,
}: Pick<Extract<ConversationItem, { kind: 'tool_result' }>, 'call_id' | 'output'>): number {
  return textBytes([call_id, output])
}

/** Bytes in the Conversation are not loaded yet: the size of a text is known from its descriptor only. */
function partBytes(part: Part, resources: SessionResources): number {
  if (part.type === 'text') return textBytes(part.text)
  const { resource, variant, text_bytes } = part
  if (text_bytes !== undefined) return text_bytes
  const descriptor = resource === undefined ? undefined : resources.byId(resource)?.descriptor
  return descriptor?.kind === 'text' && variant === undefined ? descriptor.size_bytes : MEDIA_BYTES
}

/** In JSON, as in the requests that the ratio is learned from. */
function textBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value))
}
