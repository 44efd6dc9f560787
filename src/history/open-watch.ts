import type { WholeEvent } from '../model/events/event.ts'

/** The subject of a decision about a killed command. */
export function inspectionSubject(call_id: string): string {
  return `inspection:${call_id}`
}

/**
 * Commands whose end is not recorded, the earliest first: they were watched, and the Log has neither their own result nor
 * a person's answer about the files that they left. A timeout or the absence of a person is not an answer. Pure.
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

/** An `unknown` result was written by the process that found the call open. */
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
