import { shorten } from '../encoding/quote.ts'
import { historyOf } from '../history/history.ts'
import { SessionResources } from '../history/session-resources.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { Segment } from '../model/segment.ts'
import { mainArgument } from './main-argument.ts'

/** The parts of a request, by size. */
export interface WindowParts {
  /** The largest first; none is empty. */
  readonly parts: readonly { readonly part: WindowPart; readonly bytes: number }[]
  /** Single items from a person or a tool, the largest first. */
  readonly largest: readonly LargeItem[]
}

export type WindowPart =
  | 'instructions and tools'
  | 'your messages'
  | 'answers of the model'
  | 'tool results'
  | 'attachments'
  | 'facts from Hawser'

export interface LargeItem {
  /** Such as `result of read notes.txt`. */
  readonly what: string
  /** Number of its Turn, from 1. */
  readonly turn: number
  readonly bytes: number
  /** Set for a Resource, which can be dropped. */
  readonly handle?: string
}

const MOST_NAMED = 3

/** Pure. `events` are those that the segments were composed from. */
export function windowParts(
  segments: readonly Segment[],
  events: readonly WholeEvent[],
): WindowParts {
  const messages = new Set(
    events.flatMap((event) => (event.type === 'user_message' ? [event.seq] : [])),
  )
  const sums = new Map<WindowPart, number>()
  for (const segment of segments) {
    const part = partOf(segment, messages)
    sums.set(part, (sums.get(part) ?? 0) + segment.length)
  }
  const brought = segments.filter((segment) => BROUGHT.has(partOf(segment, messages)))
  return {
    parts: [...sums]
      .map(([part, bytes]) => ({ part, bytes }))
      .toSorted((a, b) => b.bytes - a.bytes),
    largest: brought
      .toSorted((a, b) => b.length - a.length)
      .slice(0, MOST_NAMED)
      .map((segment) => itemOf(segment, events)),
  }
}

/** Parts that a person can influence. */
const BROUGHT: ReadonlySet<WindowPart> = new Set(['your messages', 'tool results', 'attachments'])

/** Some dialects send facts from Hawser in the role of the user: `messages` are the Events that a person wrote. */
function partOf({ seq, role, resource }: Segment, messages: ReadonlySet<number>): WindowPart {
  if (seq < 0) return 'instructions and tools'
  if (resource !== undefined) return 'attachments'
  switch (role) {
    case 'user':
      return messages.has(seq) ? 'your messages' : 'facts from Hawser'
    case 'tool_result':
      return 'tool results'
    case 'assistant':
    case 'reasoning':
    case 'tool_call':
      return 'answers of the model'
    case 'developer':
    case 'params':
    case 'tool':
    case 'system':
      return 'facts from Hawser'
  }
}

function itemOf(segment: Segment, events: readonly WholeEvent[]): LargeItem {
  const { seq, length: bytes, resource } = segment
  const { state, events: raw } = historyOf(events)
  const turns = raw.filter((event) => event.type === 'turn_started' && event.seq <= seq).length
  const turn = (state.turns ?? 0) + turns
  const descriptor =
    resource === undefined ? undefined : new SessionResources(events).byId(resource)?.descriptor
  if (descriptor !== undefined) {
    return { what: descriptor.handle, turn, bytes, handle: descriptor.handle }
  }
  const event = events.find((one) => one.seq === seq)
  const what = event?.type === 'tool_result' ? resultName(event.data, events) : 'your message'
  return { what, turn, bytes }
}

const NAME_BYTES = 80

/** Named by the main argument of the call. */
function resultName(
  { call_id, name }: EventData<'tool_result'>,
  events: readonly WholeEvent[],
): string {
  const call = events.find((event) => event.type === 'tool_call' && event.data.call_id === call_id)
  const value = call?.type === 'tool_call' ? mainArgument(call.data.arguments) : undefined
  const argument = value === undefined ? '' : ` ${shorten(value, NAME_BYTES)}`
  return `result of ${name}${argument}`
}
