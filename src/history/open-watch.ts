import type { WholeEvent } from '../model/events/event.ts'

/** What a decision about a killed command is about. */
export function inspectionSubject(call_id: string): string {
  return `inspection:${call_id}`
}

/**
 * Commands whose end nobody saw, the earliest first: they were watched, and neither has a result of their own followed, nor
 * the answer of a person about what they left. Who was not there, or did not answer in time, answered nothing. Pure.
 */
export function openWatches(
  events: readonly WholeEvent[],
): readonly WholeEvent<'command_watched'>[] {
  const open = new Map<string, WholeEvent<'command_watched'>>()
  for (const event of events) {
    if (event.type === 'command_watched') open.set(event.data.call_id, event)
    if (event.type === 'tool_result' && isEndOf(event, open.get(event.data.call_id))) {
      open.delete(event.data.call_id)
    }
    if (event.type === 'permission_decision' && isAnswered(event)) {
      open.delete(event.data.subject.slice(PREFIX.length))
    }
  }
  return [...open.values()]
}

/** `unknown` was written by whoever found the call open. */
function isEndOf(
  { turn_id, data }: WholeEvent<'tool_result'>,
  watch: WholeEvent<'command_watched'> | undefined,
): boolean {
  return data.outcome !== 'unknown' && turn_id === watch?.turn_id
}

function isAnswered({ data: { subject, by } }: WholeEvent<'permission_decision'>): boolean {
  return subject.startsWith(PREFIX) && (by === 'person' || by === 'policy')
}

const PREFIX = inspectionSubject('')
