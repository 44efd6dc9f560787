import type { EventData, WholeEvent } from '../../../src/model/events/event.ts'

/**
 * What is wrong with the questions in a Log: each `permission_asked` is followed by exactly one `permission_decision` of the
 * same Turn, call and subject, before the end of the Turn. `[]` if nothing is.
 */
export function everyQuestionDecided(events: readonly WholeEvent[]): string[] {
  const wrong: string[] = []
  const open = new Map<string, number>()
  for (const { seq, turn_id, type, data } of events) {
    if (type === 'permission_asked') {
      const key = keyOf(turn_id, data)
      if (open.has(key)) wrong.push(`${seq} asks again about ${key}`)
      open.set(key, seq)
    }
    if (type === 'permission_decision') {
      const key = keyOf(turn_id, data)
      const wasAsked = open.delete(key)
      if (wasAsked === UNASKED.has(data.by)) wrong.push(`${seq} decides ${key} by ${data.by}`)
    }
    if (type === 'turn_ended') {
      for (const key of open.keys()) wrong.push(`${seq} ends a Turn that waits for ${key}`)
      open.clear()
    }
  }
  return [...wrong, ...[...open].map(([key, seq]) => `${seq} asks ${key}, which is never decided`)]
}

/** Decisions for which nothing is asked. */
const UNASKED: ReadonlySet<string> = new Set(['policy', 'nobody'])

function keyOf(
  turn: string | undefined,
  { call_id, subject }: Pick<EventData<'permission_asked'>, 'call_id' | 'subject'>,
): string {
  return JSON.stringify([turn, call_id, subject])
}

export function decisionsIn(events: readonly WholeEvent[]): EventData<'permission_decision'>[] {
  return events.flatMap((event) => (event.type === 'permission_decision' ? [event.data] : []))
}
