import type { WholeEvent } from '../model/events/event.ts'
import { historyOf, type ResumeState } from './history.ts'
import { withoutCalls } from './without-calls.ts'

/** A watched command, as its Event describes it. */
export type OpenWatch = NonNullable<ResumeState['watches']>[number]

/** The subject of a decision about a killed command. */
export function inspectionSubject(call_id: string): string {
  return `inspection:${call_id}`
}

/**
 * Commands whose end is not recorded, the earliest first: they were watched, and the Log has neither their own result nor
 * a person's answer about the files that they left. A timeout or the absence of a person is not an answer. Pure.
 */
export function openWatches(all: readonly WholeEvent[]): readonly OpenWatch[] {
  const { state, events } = historyOf(all)
  return watchesAfter(state, events)
}

/** Those that are open after `events`, which follow `state`. */
export function watchesAfter(
  { watches = [] }: ResumeState,
  events: readonly WholeEvent[],
): readonly OpenWatch[] {
  // Most Sessions watch no command.
  if (watches.length === 0 && !withoutCalls(events).some(isWatch)) return []
  const open = new Map(watches.map((watch) => [watch.data.call_id, watch]))
  for (const event of events) {
    if (isWatch(event)) {
      const { seq, turn_id, data } = event
      open.set(data.call_id, { seq, ...(turn_id === undefined ? {} : { turn_id }), data })
    }
    if (event.type === 'tool_result' && isEndOf(event, open.get(event.data.call_id))) {
      open.delete(event.data.call_id)
    }
    if (event.type === 'shell_result' && event.data.outcome !== 'unknown')
      open.delete(event.data.command_id)
    if (event.type === 'permission_decision' && isAnswered(event)) {
      open.delete(event.data.subject.slice(PREFIX.length))
    }
  }
  return [...open.values()]
}

function isWatch(event: WholeEvent): event is WholeEvent<'command_watched'> {
  return event.type === 'command_watched'
}

/** An `unknown` result was written by the process that found the call open. */
function isEndOf(
  { turn_id, data }: WholeEvent<'tool_result'>,
  watch: OpenWatch | undefined,
): boolean {
  return data.outcome !== 'unknown' && turn_id === watch?.turn_id
}

function isAnswered({ data: { subject, by } }: WholeEvent<'permission_decision'>): boolean {
  return subject.startsWith(PREFIX) && (by === 'person' || by === 'policy')
}

const PREFIX = inspectionSubject('')
