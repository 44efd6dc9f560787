import type { WholeEvent } from '../model/event.ts'
import { ResourceId, type TurnId } from '../model/ids.ts'
import type { Lifetime } from '../model/segment.ts'

/** How a Resource's bytes are shown again after the Turn that attached it. */
export type Replay = 'attach-turn' | 'window' | 'cost-aware'

/** Which bytes of a Session are in a request of the Turn `now`, and for how long. */
export interface Transients {
  /** Of bytes that a message of `turn` brought; `undefined` when they are retired. */
  readonly lifetimeOf: (turn: TurnId | undefined, resource?: ResourceId) => Lifetime | undefined
  /** Of bytes for one Turn only, such as a view or hydrated text; `undefined`, too, when nothing shows that Resource any more. */
  readonly turnOnly: (turn: TurnId | undefined, resource?: ResourceId) => Lifetime | undefined
  /** The bytes that a message brought may not go to the model: that was decided before any of them did. */
  readonly isWithheld: (resource: ResourceId) => boolean
  /** Why bytes are missed that were still to be shown. */
  readonly lossOf: (resource: ResourceId) => Loss | undefined
}

/** The store could not give them, as `resource_retired` tells, or a provider refused to look at them. */
export type Loss = 'payload_missing' | 'payload_damaged' | 'refused'

/** Decided from Events alone, so that a resumed Session decides the same. */
export function transientsAt(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  replay: Replay,
): Transients {
  const { retired, ended, withheld, lost, answered, order } = fatesIn(events)
  const place = new Map(order.map((turn, at) => [turn, at]))
  const here = now === undefined ? order.length : (place.get(now) ?? order.length)
  /** Nothing between the attaching Turn and this one was ever answered, so no model has seen the bytes. */
  const unseen = (turn: TurnId) =>
    order.slice(place.get(turn) ?? 0, here).every((between) => !answered.has(between))
  return {
    lifetimeOf: (turn, resource) => {
      if (resource !== undefined && (retired.has(resource) || ended.has(resource))) return undefined
      if (replay !== 'attach-turn') return 'window'
      if (turn === undefined) return undefined
      if (turn === now) return 'turn'
      return unseen(turn) ? 'carried' : undefined
    },
    turnOnly: (turn, resource) => {
      if (resource !== undefined && ended.has(resource)) return undefined
      return turn !== undefined && turn === now ? 'turn' : undefined
    },
    isWithheld: (resource) => withheld.has(resource),
    lossOf: (resource) => lost.get(resource),
  }
}

/** What became of Resources and Turns. */
interface Fates {
  /** Bytes that a message brought are in no later request; a view may still show them. */
  readonly retired: Set<ResourceId>
  /** Nothing shows their bytes any more. */
  readonly ended: Set<ResourceId>
  readonly withheld: Set<ResourceId>
  readonly lost: Map<ResourceId, Loss>
  readonly answered: Set<TurnId>
  /** Turns as they began. */
  readonly order: TurnId[]
}

function fatesIn(events: readonly WholeEvent[]): Fates {
  const fates: Fates = {
    retired: new Set(),
    ended: new Set(),
    withheld: new Set(),
    lost: new Map(),
    answered: new Set(),
    order: [],
  }
  const projected = new Set<ResourceId>()
  for (const { type, data, turn_id } of events) {
    if (type === 'turn_started' && turn_id !== undefined) fates.order.push(turn_id)
    else if (type === 'provider_usage' && turn_id !== undefined) fates.answered.add(turn_id)
    else if (type === 'resource_dropped') fates.ended.add(data.resource_id)
    else if (type === 'resource_quarantined') {
      lose(fates, data.resource_id, 'refused')
      fates.ended.add(data.resource_id)
    } else if (type === 'resource_retired') {
      lose(fates, data.resource_id, data.why)
      fates.retired.add(data.resource_id)
    } else if (type === 'provider_request')
      for (const { resource_id } of data.projected ?? []) projected.add(resource_id)
    else if (type === 'permission_decision' && data.decision === 'denied') {
      const resource = uploadOf(data.subject)
      if (resource !== undefined && !projected.has(resource)) fates.withheld.add(resource)
    }
  }
  return fates
}

/** Only what was still to be shown can be missed. */
function lose({ retired, ended, withheld, lost }: Fates, resource: ResourceId, why: string): void {
  const shown = ![retired, ended, withheld].some((gone) => gone.has(resource))
  if (shown && isLoss(why)) lost.set(resource, why)
}

function isLoss(why: string): why is Loss {
  return why === 'payload_missing' || why === 'payload_damaged' || why === 'refused'
}

const UPLOAD = 'upload:'

/** What a decision about a Resource's bytes is said to be about. */
export function uploadSubject(resource: ResourceId): string {
  return `${UPLOAD}${resource}`
}

function uploadOf(subject: string): ResourceId | undefined {
  if (!subject.startsWith(UPLOAD)) return undefined
  return ResourceId.safeParse(subject.slice(UPLOAD.length)).data
}
