import type { Replay } from '../model/modes.ts'
import type { WholeEvent } from '../model/events/event.ts'
import type { ResourceId, TurnId } from '../model/ids.ts'
import type { Lifetime } from '../model/segment.ts'
import { LOSSES, type LossRecord } from '../model/events/loss.ts'
import { historyOf, type History } from './history.ts'
import { withheldBy } from './withheld-upload.ts'

/** Which bytes of a Session are in a request of the current Turn, and for how long. */
export interface Transients {
  /** The lifetime of bytes attached to a message of `turn`; `undefined` if they are retired. */
  readonly lifetimeOf: (turn: TurnId | undefined, resource?: ResourceId) => Lifetime | undefined
  /**
   * The lifetime of bytes that the Event `shown` shows for its Turn only, such as a view; `undefined` in any other
   * Turn, or if the bytes are never shown again or were lost since.
   */
  readonly turnOnly: (shown: ShownOnce) => Lifetime | undefined
  /** Whether everything of that Turn is omitted, because it only asked for a summary. */
  readonly isOmitted: (turn: TurnId | undefined) => boolean
  /** Why bytes attached to a message are missing although they should have been shown. The reason is permanent. */
  readonly lossOf: (resource: ResourceId) => LossRecord | undefined
  /** Why bytes are missing that an Event should show for its Turn. */
  readonly lossSince: (shown: ShownOnce) => LossRecord | undefined
}

/** An Event that shows bytes for its Turn. */
export interface ShownOnce {
  readonly seq: number
  readonly turn_id?: TurnId | undefined
  readonly resource?: ResourceId | undefined
}

/**
 * Decided from Events alone, so that a resumed Session decides the same. The Events until now are folded when the first answer
 * is needed; a Session without Resources needs none.
 */
export function transientsAt(
  events: readonly WholeEvent[],
  now: TurnId | undefined,
  replay: Replay,
): Transients {
  const history = historyOf(events)
  const count = history.events.length
  let known: Transients | undefined
  const folded = () =>
    (known ??= transientsAfter({ ...history, events: history.events.slice(0, count) }, now, replay))
  return {
    lifetimeOf: (turn, resource) => folded().lifetimeOf(turn, resource),
    turnOnly: (shown) => folded().turnOnly(shown),
    isOmitted: (turn) => folded().isOmitted(turn),
    lossOf: (resource) => folded().lossOf(resource),
    lossSince: (shown) => folded().lossSince(shown),
  }
}

function transientsAfter(history: History, now: TurnId | undefined, replay: Replay): Transients {
  const {
    retiredIds,
    ended,
    withheldIds,
    firstLosses,
    losses,
    attachingTurn,
    answeredTurns,
    order,
    summaries,
  } = stateAfter(history)
  const place = new Map(order.map((turn, at) => [turn, at]))
  const turnNumber = (turn: TurnId | undefined) =>
    turn === undefined ? order.length : (place.get(turn) ?? order.length)
  /** The lifetime, in the Turn `at`, of bytes attached to a message of `turn` that are not retired. */
  const lifetimeIn = (turn: TurnId | undefined, at: TurnId | undefined): Lifetime | undefined => {
    if (replay !== 'attach-turn') return 'window'
    if (turn === undefined) return undefined
    if (turn === at) return 'turn'
    // If no Turn between the attaching one and `at` was answered, no model has seen the bytes.
    const between = order.slice(place.get(turn) ?? 0, turnNumber(at))
    return between.every((one) => !answeredTurns.has(one)) ? 'carried' : undefined
  }
  const lossSince: Transients['lossSince'] = ({ seq, turn_id, resource }) =>
    losses.find((loss) => loss.seq > seq && loss.turn === turn_id && loss.resource === resource)
  return {
    lifetimeOf: (turn, resource) => {
      const isGone =
        resource !== undefined &&
        [retiredIds, ended, withheldIds].some((gone) => gone.has(resource))
      return isGone ? undefined : lifetimeIn(turn, now)
    },
    turnOnly: (shown) => {
      const { turn_id, resource } = shown
      if (turn_id === undefined || turn_id !== now) return undefined
      if (resource === undefined) return 'turn'
      return ended.has(resource) || lossSince(shown) !== undefined ? undefined : 'turn'
    },
    isOmitted: (turn) => turn !== undefined && turn !== now && summaries.has(turn),
    lossOf: (resource) => {
      const loss = firstLosses.get(resource)
      // If only a view should have shown the bytes by then, the text of the message does not change.
      const isMissed =
        loss !== undefined && lifetimeIn(attachingTurn.get(resource), loss.turn) !== undefined
      return isMissed ? loss : undefined
    },
    lossSince,
  }
}

/** The state of Resources and Turns. */
interface ResourceState {
  /** Bytes attached to a message are in no later request; a view may still show them. */
  readonly retiredIds: Set<ResourceId>
  /** Their bytes are never shown again. */
  readonly ended: Set<ResourceId>
  /** Bytes attached to a message must not be sent to the model, as decided before any of them were sent. */
  readonly withheldIds: Set<ResourceId>
  /** The first loss of each. */
  readonly firstLosses: Map<ResourceId, LossEvent>
  readonly losses: LossEvent[]
  /** The Turn of the message that a Resource is attached to. */
  readonly attachingTurn: Map<ResourceId, TurnId | undefined>
  readonly answeredTurns: Set<TurnId>
  /** Turns that only ask for a summary. What they show counts as not yet seen. */
  readonly summaries: Set<TurnId>
  /** Turns in the order in which they started. */
  readonly order: TurnId[]
}

/** A loss, with its Turn. */
interface LossEvent extends LossRecord {
  readonly seq: number
  readonly turn: TurnId | undefined
  readonly resource: ResourceId
}

function stateAfter({ state: before, events }: History): ResourceState {
  const state: ResourceState = {
    retiredIds: new Set(),
    ended: new Set(
      before.resources.flatMap(({ descriptor, fate }) =>
        fate === 'dropped' || fate === 'quarantined' ? [descriptor.resource_id] : [],
      ),
    ),
    withheldIds: new Set(),
    firstLosses: new Map(),
    losses: [],
    attachingTurn: new Map(),
    answeredTurns: new Set(),
    summaries: new Set(),
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
      if (turn_id === undefined) return
      state.order.push(turn_id)
      if (event.data.purpose !== undefined) state.summaries.add(turn_id)
      return
    case 'provider_request':
      for (const { resource_id } of event.data.projected ?? []) projected.add(resource_id)
      return
    case 'provider_usage':
      if (turn_id !== undefined && !state.summaries.has(turn_id)) state.answeredTurns.add(turn_id)
      return
    case 'permission_decision': {
      const resource = withheldBy(event.data)
      if (resource === undefined || projected.has(resource)) return
      miss(state, { seq: event.seq, turn: turn_id, resource, why: 'upload_denied' })
      state.withheldIds.add(resource)
      return
    }
    case 'resource_retired': {
      const { resource_id: resource, estimate: figures } = event.data
      const why = LOSSES.find((loss) => loss === event.data.why)
      if (why !== undefined) lose(state, { seq: event.seq, turn: turn_id, resource, why, figures })
      state.retiredIds.add(resource)
      return
    }
    case 'resource_quarantined': {
      const { resource_id: resource } = event.data
      lose(state, { seq: event.seq, turn: turn_id, resource, why: 'refused' })
      state.ended.add(resource)
      return
    }
    case 'user_message':
      for (const { resource_id } of event.data.resources ?? [])
        state.attachingTurn.set(resource_id, turn_id)
      return
    case 'resource_dropped':
      state.ended.add(event.data.resource_id)
      return
    // Event types that do not affect bytes in requests. All are listed, so that a new type requires a decision.
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'late_context':
    case 'project_instructions':
    case 'skill_activation':
    case 'skill_context_hydration':
    case 'assistant_message':
    case 'reasoning':
    case 'tool_call':
    case 'command_watched':
    case 'permission_asked':
    case 'tool_result':
    case 'shell_command':
    case 'shell_result':
    case 'plan_updated':
    case 'resource_ingested':
    case 'resource_view':
    case 'history_compaction':
    case 'compaction_undone':
    case 'files_restored':
    case 'text_pinned':
    case 'text_unpinned':
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
function lose(state: ResourceState, loss: LossEvent): void {
  if (state.ended.has(loss.resource)) return
  state.losses.push(loss)
  miss(state, loss)
}

/** Keeps the first reason. */
function miss(
  { retiredIds, ended, withheldIds, firstLosses }: ResourceState,
  loss: LossEvent,
): void {
  const { resource } = loss
  if (![retiredIds, ended, withheldIds].some((gone) => gone.has(resource)))
    firstLosses.set(resource, loss)
}
