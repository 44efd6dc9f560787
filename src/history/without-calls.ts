import type { EventType, WholeEvent } from '../model/events/event.ts'

/** Types of which every call to a model or a tool has one or more: nearly all Events of a long Session. */
const OF_A_CALL = {
  provider_request: true,
  provider_usage: true,
  assistant_message: true,
  reasoning: true,
  tool_call: true,
  tool_result: true,
} as const satisfies Partial<Record<EventType, true>>

/** An Event that is not a step of a call. */
export type EventOutsideCalls = WholeEvent<Exclude<EventType, keyof typeof OF_A_CALL>>

/**
 * The Events that are not steps of calls, in order. Kept for each list, which may only grow: many folds need no others, and a
 * long Session has few of them. The result grows with the list.
 */
export function withoutCalls(events: readonly WholeEvent[]): readonly EventOutsideCalls[] {
  const found = KNOWN.get(events)
  const isPrefix = found !== undefined && events[found.count - 1] === found.last
  const known: KnownEvents = isPrefix ? found : { count: 0, last: undefined, outside: [] }
  if (!isPrefix) KNOWN.set(events, known)
  for (; known.count < events.length; known.count += 1) {
    const event = events[known.count]
    known.last = event
    if (event !== undefined && isOutsideCalls(event)) known.outside.push(event)
  }
  return known.outside
}

/** The Events before the one at `index`; what is known about the list is known about them too. */
export function eventsBefore(events: readonly WholeEvent[], index: number): readonly WholeEvent[] {
  const before = events.slice(0, index)
  const last = before.at(-1)
  const outside = withoutCalls(events).filter(({ seq }) => last !== undefined && seq <= last.seq)
  KNOWN.set(before, { count: before.length, last, outside })
  return before
}

interface KnownEvents {
  /** How many Events of the list were read. */
  count: number
  last: WholeEvent | undefined
  readonly outside: EventOutsideCalls[]
}

const KNOWN = new WeakMap<readonly WholeEvent[], KnownEvents>()

function isOutsideCalls(event: WholeEvent): event is EventOutsideCalls {
  return !Object.hasOwn(OF_A_CALL, event.type)
}
