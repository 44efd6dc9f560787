import type { WholeEvent } from '../model/event.ts'

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
    switch (event.type) {
      case 'command_watched':
        open.set(event.data.call_id, event)
        break
      case 'tool_result':
        if (isEndOf(event, open.get(event.data.call_id))) open.delete(event.data.call_id)
        break
      case 'permission_decision': {
        const { subject, by } = event.data
        const answered = by === 'person' || by === 'policy'
        if (answered && subject.startsWith(PREFIX)) open.delete(subject.slice(PREFIX.length))
        break
      }
      default:
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

const PREFIX = inspectionSubject('')
