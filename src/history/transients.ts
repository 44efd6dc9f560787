import type { WholeEvent } from '../model/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import type { Lifetime } from '../model/segment.ts'

/** How a Resource's bytes are shown again after the Turn that attached it. */
export type Replay = 'attach-turn' | 'window' | 'cost-aware'

/** Which bytes of a Session are in a request of the Turn `now`, and for how long. */
export interface Transients {
  /** Of bytes that an Event of `turn` brought; `undefined` when they are retired. */
  lifetimeOf(turn: TurnId | undefined, resource?: ResourceId): Lifetime | undefined
  /** Of bytes for one Turn only, such as a view or hydrated text. */
  turnOnly(turn: TurnId | undefined, resource?: ResourceId): Lifetime | undefined
}

/** Decided from Events alone, so that a resumed Session decides the same. */
export function transientsAt(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  replay: Replay,
): Transients {
  const gone = new Set<ResourceId>()
  const answered = new Set<TurnId>()
  const order: TurnId[] = []
  for (const event of events) {
    if (event.type === 'turn_started' && event.turn_id !== undefined) order.push(event.turn_id)
    if (event.type === 'provider_usage' && event.turn_id !== undefined) answered.add(event.turn_id)
    if (RETIRING.has(event.type) && 'resource_id' in event.data) {
      if (event.data.resource_id !== undefined) gone.add(event.data.resource_id)
    }
  }
  const place = new Map(order.map((turn, at) => [turn, at]))
  const here = now === undefined ? order.length : (place.get(now) ?? order.length)
  /** Nothing between the attaching Turn and this one was ever answered, so no model has seen the bytes. */
  const unseen = (turn: TurnId) =>
    order.slice(place.get(turn) ?? 0, here).every((between) => !answered.has(between))
  return {
    lifetimeOf: (turn, resource) => {
      if (resource !== undefined && gone.has(resource)) return undefined
      if (replay !== 'attach-turn') return 'window'
      if (turn === undefined) return undefined
      if (turn === now) return 'turn'
      return unseen(turn) ? 'carried' : undefined
    },
    turnOnly: (turn, resource) => {
      if (resource !== undefined && gone.has(resource)) return undefined
      return turn !== undefined && turn === now ? 'turn' : undefined
    },
  }
}

/** After one of these, the bytes of that Resource are in no later request. */
const RETIRING = new Set<string>(['resource_retired', 'resource_dropped', 'resource_quarantined'])
