import type { Replay } from '../model/modes.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import { uploadedResource } from '../model/permission-subject.ts'
import type { Lifetime } from '../model/segment.ts'

/** Which bytes of a Session are in a request of the current Turn, and for how long. */
export interface Transients {
  /** For bytes attached to a message of `turn`; `undefined` if they are retired. */
  readonly lifetimeOf: (turn: TurnId | undefined, resource?: ResourceId) => Lifetime | undefined
  /**
   * For bytes that the Event `shown` shows for its Turn only, such as a view; `undefined` also if they were dropped
   * since.
   */
  readonly turnOnly: (shown: ShownOnce) => Lifetime | undefined
  /** Whether bytes attached to a message must not be sent to the model, as decided before any of them were sent. */
  readonly isWithheld: (resource: ResourceId) => boolean
  /** Why bytes attached to a message are missing although they should still be shown. */
  readonly lossOf: (resource: ResourceId) => Loss | undefined
  /** Why bytes are missing that an Event should show for its Turn. */
  readonly lossSince: (shown: ShownOnce) => Loss | undefined
}

/** An Event that shows bytes for its Turn. */
export interface ShownOnce {
  readonly seq: number
  readonly turn_id?: TurnId | undefined
  readonly resource?: ResourceId | undefined
}

/** Reasons of a `resource_retired` that are reported to people and models; `refused`: a provider refused the bytes. */
export const LOSSES = [
  'payload_missing',
  'payload_damaged',
  'refused',
  'too_large',
  'no_variant',
  'upload_denied',
  'holds_key',
] as const
export type Loss = (typeof LOSSES)[number]

/** Decided from Events alone, so that a resumed Session decides the same. */
export function transientsAt(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  replay: Replay,
): Transients {
  const { retired, ended, withheld, lost, losses, answered, order } = stateAfter(events)
  const place = new Map(order.map((turn, at) => [turn, at]))
  const here = now === undefined ? order.length : (place.get(now) ?? order.length)
  /** No Turn between the attaching one and this one was answered, so no model has seen the bytes. */
  const unseen = (turn: TurnId) =>
    order.slice(place.get(turn) ?? 0, here).every((between) => !answered.has(between))
  const lossSince: Transients['lossSince'] = ({ seq, turn_id, resource }) =>
    losses.find((loss) => loss.seq > seq && loss.turn === turn_id && loss.resource === resource)
      ?.why
  return {
    lifetimeOf: (turn, resource) => {
      if (resource !== undefined && (retired.has(resource) || ended.has(resource))) return undefined
      if (replay !== 'attach-turn') return 'window'
      if (turn === undefined) return undefined
      if (turn === now) return 'turn'
      return unseen(turn) ? 'carried' : undefined
    },
    turnOnly: (shown) => {
      const { turn_id, resource } = shown
      if (turn_id === undefined || turn_id !== now) return undefined
      if (resource === undefined) return 'turn'
      return ended.has(resource) || lossSince(shown) !== undefined ? undefined : 'turn'
    },
    isWithheld: (resource) => withheld.has(resource),
    lossOf: (resource) => lost.get(resource),
    lossSince,
  }
}

/** The state of Resources and Turns. */
interface ResourceState {
  /** Bytes attached to a message are in no later request; a view may still show them. */
  readonly retired: Set<ResourceId>
  /** Their bytes are never shown again. */
  readonly ended: Set<ResourceId>
  readonly withheld: Set<ResourceId>
  readonly lost: Map<ResourceId, Loss>
  /** Every loss, with its Turn. */
  readonly losses: { seq: number; turn: TurnId | undefined; resource: ResourceId; why: Loss }[]
  readonly answered: Set<TurnId>
  /** Turns in the order in which they started. */
  readonly order: TurnId[]
}

function stateAfter(events: readonly WholeEvent[]): ResourceState {
  const state: ResourceState = {
    retired: new Set(),
    ended: new Set(),
    withheld: new Set(),
    lost: new Map(),
    losses: [],
    answered: new Set(),
    order: [],
  }
  const projected = new Set<ResourceId>()
  for (const event of events) applyEvent(event, state, projected)
  return state
}

/** Applies one Event; `projected` are the Resources whose bytes an earlier request contained. */
function applyEvent(event: WholeEvent, state: ResourceState, projected: Set<ResourceId>): void {
  const { turn_id } = event
  switch (event.type) {
    case 'turn_started':
      if (turn_id !== undefined) state.order.push(turn_id)
      return
    case 'provider_request':
      for (const { resource_id } of event.data.projected ?? []) projected.add(resource_id)
      return
    case 'provider_usage':
      if (turn_id !== undefined) state.answered.add(turn_id)
      return
    case 'permission_decision': {
      if (event.data.decision !== 'denied') return
      const resource = uploadedResource(event.data.subject)
      if (resource !== undefined && !projected.has(resource)) state.withheld.add(resource)
      return
    }
    case 'resource_retired':
      lose(state, event, event.data.why)
      state.retired.add(event.data.resource_id)
      return
    case 'resource_quarantined':
      lose(state, event, 'refused')
      state.ended.add(event.data.resource_id)
      return
    case 'resource_dropped':
      state.ended.add(event.data.resource_id)
      return
    // Event types that do not affect bytes in requests. All are listed, so that a new type requires a decision.
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'user_message':
    case 'late_context':
    case 'skill_activation':
    case 'skill_context_hydration':
    case 'assistant_message':
    case 'reasoning':
    case 'tool_call':
    case 'command_watched':
    case 'tool_result':
    case 'plan_updated':
    case 'resource_ingested':
    case 'resource_view':
    case 'history_compaction':
    case 'compaction_undone':
    case 'files_restored':
    case 'text_pinned':
    case 'log_repaired':
    case 'lock_taken':
    case 'notice':
    case 'turn_ended':
      return
    default:
      event satisfies never
  }
}

/** Only bytes that should still be shown can be lost. */
function lose(
  { retired, ended, withheld, lost, losses }: ResourceState,
  { seq, turn_id: turn, data }: WholeEvent<'resource_retired' | 'resource_quarantined'>,
  reason: string,
): void {
  const { resource_id: resource } = data
  const why = LOSSES.find((loss) => loss === reason)
  if (why === undefined || ended.has(resource)) return
  losses.push({ seq, turn, resource, why })
  if (!retired.has(resource) && !withheld.has(resource)) lost.set(resource, why)
}
