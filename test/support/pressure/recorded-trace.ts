import { answeredCalls, type AnsweredCall } from '../../../src/context/answered-calls.ts'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { lengthsBy } from './replay-lengths.ts'
import type { Attached, ReplayTrace } from './replay-trace.ts'

/**
 * The trace of a Session: the times and lengths of its messages, calls and answers. Played again, it gives requests that
 * grow like those of the Session. It omits Turns without an answer, late context, and views. Pure.
 */
export function traceOf(events: readonly WholeEvent[], what: string): ReplayTrace {
  const answered = answeredCalls(events)
  const turns: ReplayTrace['turns'] = []
  let taken = 0
  let before: number | undefined
  for (const turn of turnsIn(events)) {
    const began = timeOf(turn.at(0))
    const count = turn.filter(({ type }) => type === 'provider_usage').length
    const calls = answered.slice(taken, taken + count)
    taken += count
    if (count > 0) {
      turns.push({
        after_s: Math.max(0, Math.round((began - (before ?? began)) / 1000)),
        ask_bytes: Math.max(1, lengthOf(turn, 'user_message')),
        attached: turn.flatMap(attachedIn),
        calls: [
          ...addedBetween(calls),
          Math.max(1, lengthOf(lastAnswer(turn), 'assistant_message')),
        ],
      })
    }
    before = timeOf(turn.at(-1))
  }
  return { what, turns }
}

/** The Events of each Turn, in the order in which the Turns started. */
function turnsIn(events: readonly WholeEvent[]): WholeEvent[][] {
  const turns = new Map<string, WholeEvent[]>()
  for (const event of events) {
    if (event.turn_id === undefined) continue
    const turn = turns.get(event.turn_id) ?? []
    turn.push(event)
    turns.set(event.turn_id, turn)
  }
  return [...turns.values()]
}

function timeOf(event: WholeEvent | undefined): number {
  return Date.parse(event?.ts ?? '')
}

function attachedIn({ type, data }: WholeEvent): Attached[] {
  if (type !== 'user_message') return []
  return (data.resources ?? []).flatMap((one) =>
    one.kind === 'link' || one.kind === 'file' ? [] : [{ kind: one.kind, bytes: one.size_bytes }],
  )
}

/** The growth from request to request, without what playing a trace adds for each call. */
function addedBetween(calls: readonly AnsweredCall[]): number[] {
  const lengths = lengthsBy('sent')
  const perCall = lengths.toolCall.sent + lengths.result(0).sent
  return calls.slice(1).map(({ textBytes }, at) => {
    return Math.max(1, textBytes - (calls[at]?.textBytes ?? 0) - perCall)
  })
}

/** The Events from the last request of a Turn on. */
function lastAnswer(turn: readonly WholeEvent[]): readonly WholeEvent[] {
  return turn.slice(turn.findLastIndex(({ type }) => type === 'provider_request'))
}

/** The total length of the messages of one type, encoded as in a request. */
function lengthOf(
  events: readonly WholeEvent[],
  messageType: 'user_message' | 'assistant_message',
): number {
  return events.reduce((all, { type, data }) => {
    return type === messageType ? all + Buffer.byteLength(JSON.stringify(data.text)) - QUOTES : all
  }, 0)
}

const QUOTES = 2
