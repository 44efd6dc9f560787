import { countOf } from '../../encoding/amounts.ts'
import type { WholeEvent } from '../../model/events/event.ts'
import { runsLater } from './runs-later.ts'
import { SessionResources, type ResourceOf } from '../session-resources.ts'
import { eventNotices, type ResultNotice } from './event-notices.ts'

/**
 * What a person must know about a Turn, in order: its own Events, and those since the end of the Turn before it that belong
 * to none, for example about a repair when the Session was opened. Pure.
 */
export function turnNotices(
  events: readonly WholeEvent[],
  turn_id: string,
  resourceOf: ResourceOf = resourcesIn(events),
): readonly ResultNotice[] {
  const own = eventsAround(events, turn_id)
  return [...own.flatMap((event) => eventNotices(event, resourceOf)), ...laterNotices(own)]
}

/** The Events before number `seq` that a Turn starting there still has to tell, or has begun to tell. Pure. */
export function sinceLastTurn(events: readonly WholeEvent[], seq: number): readonly WholeEvent[] {
  const before = events.filter((event) => event.seq < seq)
  return before.slice(lastEnd(before) + 1).filter(isTold)
}

/** Finds the Resources of a Session whose Events grow; reads each of them once, and none before the first question. */
export function resourcesOf(events: () => readonly WholeEvent[]): ResourceOf {
  let known: SessionResources | undefined
  let read: readonly WholeEvent[] = []
  let count = 0
  return (id) => {
    const now = events()
    if (known === undefined || now !== read || now.length < count) known = new SessionResources(now)
    else for (const event of now.slice(count)) known.add(event)
    read = now
    count = now.length
    return known.byId(id)?.descriptor
  }
}

/** Finds the Resources of these Events; reads them when first asked. */
export function resourcesIn(events: readonly WholeEvent[]): ResourceOf {
  let known: SessionResources | undefined
  return (id) => (known ??= new SessionResources(events)).byId(id)?.descriptor
}

const NAMED = 5

/** The files of a Turn that run later, one notice each, the first five by name. Pure. */
export function laterNotices(own: readonly WholeEvent[]): readonly ResultNotice[] {
  const files = runsLater(own)
  const more = files.length - NAMED
  const texts = [
    ...files.slice(0, NAMED).map(({ path, reason }) => `changed: ${path} (${reason})`),
    ...(more > 0
      ? [`changed: ${countOf(more, 'more file that runs later', 'more files that run later')}`]
      : []),
  ]
  return texts.map((text) => ({ code: 'runs_later', text }))
}

/** Of Events without a Turn, what a person did was answered there. */
function isTold({ turn_id, type }: WholeEvent): boolean {
  return turn_id !== undefined || type === 'notice' || type === 'log_repaired'
}

/** The Events of a Turn, and those without a Turn from the end of the previous one to its own end. */
function eventsAround(events: readonly WholeEvent[], turn_id: string): readonly WholeEvent[] {
  const first = events.findIndex((event) => event.turn_id === turn_id)
  if (first === -1) return []
  const end = events.findIndex((event) => event.type === 'turn_ended' && event.turn_id === turn_id)
  return events
    .slice(lastEnd(events.slice(0, first)) + 1, end === -1 ? undefined : end + 1)
    .filter((event) => (event.turn_id ?? turn_id) === turn_id && isTold(event))
}

/** Without Turns that only summarise: they have no face. */
function lastEnd(events: readonly WholeEvent[]): number {
  const hidden = new Set(
    events.flatMap(({ type, data, turn_id }) =>
      type === 'turn_started' && data.purpose !== undefined ? [turn_id] : [],
    ),
  )
  return events.findLastIndex(({ type, turn_id }) => type === 'turn_ended' && !hidden.has(turn_id))
}
