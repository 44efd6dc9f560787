import { changesExistingItems } from '../history/conversation.ts'
import { historyOf, isElided, type History } from '../history/history.ts'
import { transientsAt } from '../history/transients.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'
import type { BreakCause } from '../model/prefix-break.ts'
import type { Segment } from '../model/segment.ts'
import type { Surface } from '../model/surface.ts'
import { canonicalJson } from '../encoding/json.ts'
import { bytesBefore, sharedPrefix } from '../prompt/prefix.ts'

/** Where the shared prefix ends, in bytes of the earlier request, and why. */
export interface Break {
  readonly at: number
  readonly cause: BreakCause
}

/** The inputs of a request, as known before its bytes are composed. */
export interface RequestInputs {
  readonly dialect: string
  /** The name of the provider; absent if no other request is compared with this one. */
  readonly provider?: string | undefined
  readonly surface: Surface
  /** Segments of the surface alone. */
  readonly surfaceSegments: readonly Segment[]
  /** Events up to the request; if `count` is set, only that many: the list may have grown since. */
  readonly events: readonly WholeEvent[]
  readonly count?: number
  readonly turn: TurnId | undefined
  /** The hash of the prompt texts it was written with; absent if its version recorded none. */
  readonly words?: string | undefined
}

/**
 * Whether the same Events give the same bytes in both: other prompt texts give other items, which this version cannot
 * compose.
 */
export function sameWords(before: RequestInputs, next: RequestInputs): boolean {
  return before.words === next.words
}

/**
 * Predicts from Events, without composing anything, whether the request `next` starts with all of `before`, and if not,
 * where and why it differs. `segments` are those of `before`.
 */
export function predictBreak(
  before: RequestInputs,
  segments: readonly Segment[],
  next: RequestInputs,
): Break | undefined {
  if (before.dialect !== next.dialect) return { at: 0, cause: 'dialect' }
  // A model of another provider is another model, even under the same name.
  if (before.provider !== next.provider || before.surface.model !== next.surface.model)
    return { at: 0, cause: 'model' }
  if (before.surface !== next.surface && shaping(before.surface) !== shaping(next.surface))
    return { at: 0, cause: 'params' }
  const surface = surfaceBreak(before, next)
  const rest =
    checkpointBreak(before, segments, next) ??
    firstOf(elisionBreak(before, segments, next), transientBreak(segments, next))
  return firstOf(surface, rest)
}

function firstOf(one: Break | undefined, other: Break | undefined): Break | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.at <= other.at ? one : other
}

/**
 * Whether `next` is a later request of the same Turn and nothing that `before` showed has changed. This holds for
 * nearly every request, and then no break is predicted. Reads only the Events since, however many came before.
 */
export function onlyGrew(before: RequestInputs, next: RequestInputs): boolean {
  const known = before.count ?? before.events.length
  return (
    before.dialect === next.dialect &&
    before.surface === next.surface &&
    sameWords(before, next) &&
    before.turn === next.turn &&
    // Every Event contains the hash of the previous one: if one Event is the same at the same position, so are all
    // before it.
    before.events[known - 1] === next.events[known - 1] &&
    next.events.slice(known, next.count).every((event) => !changesExistingItems(event, next.turn))
  )
}

function eventsOf({ events, count }: RequestInputs): readonly WholeEvent[] {
  // A list that has not grown is not copied: what is known about it would be lost.
  return count === undefined || count === events.length ? events : events.slice(0, count)
}

function surfaceBreak(before: RequestInputs, next: RequestInputs): Break | undefined {
  if (!sameWords(before, next)) {
    const { bytes } = sharedPrefix(before.surfaceSegments, next.surfaceSegments)
    return { at: bytes, cause: 'surface' }
  }
  // Compares recorded surfaces, not encoded bytes: bytes that change under the same surface have no known cause.
  if (before.surface === next.surface) return undefined
  if (canonicalJson(before.surface) === canonicalJson(next.surface)) return undefined
  const shared = sharedPrefix(before.surfaceSegments, next.surfaceSegments)
  const grown = next.surfaceSegments.length > before.surfaceSegments.length
  if (shared.whole && !grown) return undefined
  return { at: shared.bytes, cause: 'surface' }
}

/** Causes after which nothing counts as shared, even if bytes are equal, because a provider caches these separately. */
export const APART: ReadonlySet<BreakCause> = new Set(['dialect', 'model', 'params'])

/** The parameters that the bytes of a request depend on, including its items. Events determine what is replayed. */
function shaping({ params: { replay: _replay, limits, ...params } }: Surface): string {
  const { provider_calls: _calls, ...ofModel } = limits
  return canonicalJson({ ...params, limits: ofModel })
}

/** The items start with another checkpoint than before, or no longer with one. */
function checkpointBreak(
  before: RequestInputs,
  segments: readonly Segment[],
  next: RequestInputs,
): Break | undefined {
  const old = historyOf(eventsOf(before)).checkpoint
  const now = historyOf(eventsOf(next)).checkpoint
  if (old?.id === now?.id) return undefined
  const cause = now === undefined || now.seq < (old?.seq ?? -1) ? 'undo' : 'checkpoint'
  return { at: bytesBefore(segments, before.surfaceSegments.length), cause }
}

/** The first result of `before` that has become a pointer since, or is shown again. */
function elisionBreak(
  before: RequestInputs,
  segments: readonly Segment[],
  next: RequestInputs,
): Break | undefined {
  const old = historyOf(eventsOf(before))
  const now = historyOf(eventsOf(next))
  if (old.elisions.length === 0 && now.elisions.length === 0) return undefined
  const changed = new Set(
    now.events.flatMap((event) =>
      event.type === 'tool_result' && isElidedIn(old, event) !== isElidedIn(now, event)
        ? [event.seq]
        : [],
    ),
  )
  const index = segments.findIndex(({ seq, role }) => role === 'tool_result' && changed.has(seq))
  if (index === -1) return undefined
  const cause = now.elisions.length < old.elisions.length ? 'undo' : 'checkpoint'
  return { at: bytesBefore(segments, index), cause }
}

function isElidedIn({ elisions }: History, { seq, data }: WholeEvent<'tool_result'>): boolean {
  return isElided(elisions, seq, data)
}

/** The first segment of `before` whose bytes are not shown in the next request. */
function transientBreak(segments: readonly Segment[], next: RequestInputs): Break | undefined {
  if (segments.every(({ lifetime }) => lifetime === 'stable')) return undefined
  const events = eventsOf(next)
  const transients = transientsAt(events, next.turn, next.surface.params.replay)
  const bySeq = new Map(events.map((event) => [event.seq, event]))
  const index = segments.findIndex(({ seq, lifetime, resource }) => {
    if (lifetime === 'stable') return false
    const event = bySeq.get(seq)
    if (transients.isOmitted(event?.turn_id)) return true
    const forOneTurn = event?.type !== 'user_message'
    const live = forOneTurn
      ? transients.turnOnly({ seq, turn_id: event?.turn_id, resource })
      : transients.lifetimeOf(event.turn_id, resource)
    return live === undefined
  })
  const retired = segments[index]
  if (retired === undefined) return undefined
  return { at: bytesBefore(segments, index), cause: retirement(retired, events) }
}

function retirement({ resource }: Segment, events: readonly WholeEvent[]): BreakCause {
  if (resource === undefined) return 'transient_retired'
  const last = events.findLast(
    (event): event is WholeEvent<Retiring> =>
      isRetiring(event) && event.data.resource_id === resource,
  )
  if (last === undefined) return 'transient_retired'
  if (last.type === 'resource_retired' && last.data.why.startsWith('payload_'))
    return 'payload_missing'
  return CAUSES[last.type]
}

/** Event types that name a Resource whose bytes are in no later request. */
type Retiring = 'resource_quarantined' | 'resource_dropped' | 'resource_retired'

const CAUSES: Readonly<Record<Retiring, BreakCause>> = {
  resource_quarantined: 'quarantine',
  resource_dropped: 'drop',
  resource_retired: 'transient_retired',
}

function isRetiring(event: WholeEvent): event is WholeEvent<Retiring> {
  return Object.hasOwn(CAUSES, event.type)
}
