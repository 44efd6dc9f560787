import * as z from 'zod'
import { replacesRange } from '../../history/history.ts'
import type { ModeChange } from '../admission/settings-change.ts'
import type { Fold } from '../../log/derived-index.ts'
import type { Cursor } from '../../log/line.ts'
import { LOG_START } from '../../log/scan.ts'
import type { EventDraft, KnownEvent } from '../../model/events/event.ts'
import { PromptSurface } from '../../model/events/session-events.ts'
import { ResourceId, Sha256 } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import { narrower, PermissionMode, SessionMode } from '../../model/modes.ts'
import { closedObject, Count } from '../../model/shape.ts'
import { TetherBinding } from '../../model/tether/tether-address.ts'
import { takeBack } from '../../policy/take-back.ts'

/** A compaction in force. */
const CompactionPlace = closedObject(() => ({
  id: z.string(),
  /** Where its raw Events begin; null if it replaced none, or names no position. */
  tail: z.object({ offset: Count, seq: Count, prev: Sha256.nullable() }).nullable(),
}))
type CompactionPlace = z.infer<typeof CompactionPlace>

/** More are not kept: after as many undos, the Log is read from its start. */
const MOST_COMPACTIONS = 32

/** What a list of Sessions shows, and what opening a Session needs immediately. */
const SessionState = closedObject(() => ({
  workspace: z.string(),
  provider: z.string(),
  model: z.string(),
  /** The reasoning effort that was set for this Session. */
  effort: z.string().optional(),
  mode: SessionMode,
  /** The mode at the start, which stays in the cache key. */
  starting_mode: SessionMode,
  permission_mode: PermissionMode,
  /** The Session that wrote the last line: another one writes from the line on that forks it. */
  session_id: z.string(),
  root_session_id: z.string(),
  /** The Session it was forked from; empty if it is not a Fork. */
  parent_session_id: z.string(),
  title: z.string(),
  turns: z.number(),
  last_ts: z.string(),
  /** The cost of all calls to a model whose cost is known; absent if no cost is known. */
  cost_usd: z.number().optional(),
  /** A Turn has begun and not ended. */
  turn_open: z.boolean(),
  /** The oldest first. */
  compactions: z.array(CompactionPlace),
  /** The conversation of an Instance that it belongs to. */
  tether: TetherBinding.optional(),
  /** How many Resources were added, and the newest of them. */
  resources: closedObject(() => ({ count: Count, newest: z.array(ResourceId) })),
  /** The surface in force. */
  surface: PromptSurface.optional(),
}))
export type SessionState = z.infer<typeof SessionState>

/** The position of the first raw Event. */
export function rawStart({ compactions }: SessionState): Cursor {
  return compactions.findLast(({ tail }) => tail !== null)?.tail ?? LOG_START
}

/** The permission mode that applies to calls: the recorded one, limited to read-only in plan mode. */
export function modeOfCalls({ mode, permission_mode }: SessionState): PermissionMode {
  return mode === 'plan' ? narrower(permission_mode, 'read-only') : permission_mode
}

/** What a change of modes records; nothing if they are already set. */
export function modeDrafts(
  { mode, permission_mode }: SessionState,
  change: ModeChange,
): EventDraft[] {
  const { mode: nextMode = mode, permission_mode: nextPermission = permission_mode } = change
  const data = {
    ...(nextMode === mode ? {} : { mode: nextMode }),
    ...(nextPermission === permission_mode ? {} : { permission_mode: nextPermission }),
  }
  return Object.keys(data).length === 0 ? [] : [{ type: 'session_settings', data }]
}

const FIRST_LINE_CHARACTERS = 80

export const sessionFold: Fold<SessionState> = {
  version: 'session-9',
  schema: SessionState,
  initial: {
    workspace: '',
    provider: '',
    model: '',
    mode: 'build',
    starting_mode: 'build',
    permission_mode: 'ask',
    session_id: '',
    root_session_id: '',
    parent_session_id: '',
    title: '',
    turns: 0,
    last_ts: '',
    turn_open: false,
    compactions: [],
    resources: { count: 0, newest: [] },
  },
  takeBack: (state, lines) =>
    takeBack(
      state,
      lines.map(({ content }) => content),
    ),
  step: (before, { content }, vouched) => {
    const state = { ...before, last_ts: content.event.ts, session_id: content.event.session_id }
    if (!content.isKnown) return state
    const { event } = content
    switch (event.type) {
      case 'session_started': {
        const { workspace = '', provider = '', model = '', mode, permission_mode } = event.data
        const { tether } = event.data
        // Only the first one starts the Session; our writers write no other.
        if (state.provider !== '')
          return {
            ...state,
            ...settingsInForce(state, { provider, model, mode, permission_mode }, vouched),
          }
        const root_session_id = event.session_id
        // There is nothing else to begin with, but a mode is at most the default.
        const permitted = vouched
          ? permission_mode
          : narrower(state.permission_mode, permission_mode)
        const began = { provider, model, mode, starting_mode: mode, permission_mode: permitted }
        const bound = tether === undefined ? {} : { tether }
        return { ...state, ...began, ...bound, workspace, root_session_id }
      }
      case 'session_fork': {
        // A salvaged Log repeats such a line as one of its own.
        const isCopy = before.session_id === event.session_id
        return isCopy
          ? { ...state, root_session_id: event.data.root_session_id }
          : afterFork(state, event, vouched)
      }
      case 'session_settings': {
        const { provider, model, effort, mode, permission_mode, title } = event.data
        const chosen = {
          provider: provider ?? state.provider,
          model: model ?? state.model,
          mode: mode ?? state.mode,
          permission_mode: permission_mode ?? state.permission_mode,
        }
        return {
          ...state,
          ...settingsInForce(state, chosen, vouched),
          title: title ?? state.title,
          ...(effort === undefined ? {} : { effort }),
        }
      }
      case 'prompt_surface': {
        if (!vouched && state.surface !== undefined) return state
        const surface = PromptSurface.safeParse(event.data).data
        return surface === undefined ? state : { ...state, surface }
      }
      case 'turn_started':
        return { ...state, turns: state.turns + 1, turn_open: true }
      case 'turn_ended':
        return { ...state, turn_open: false }
      case 'provider_usage': {
        const { cost_usd } = event.data
        return cost_usd === undefined
          ? state
          : { ...state, cost_usd: (state.cost_usd ?? 0) + cost_usd }
      }
      case 'user_message': {
        const [first] = event.data.resources ?? []
        const text = (event.data.text ?? '').trim().split('\n')[0] || (first?.name ?? '')
        const added = withResources(state, event.data.resources ?? [])
        return state.title === ''
          ? { ...added, title: text.slice(0, FIRST_LINE_CHARACTERS) }
          : added
      }
      case 'history_compaction': {
        if (!vouched) return state
        const compactions = [...state.compactions, compactionPlace(event)].slice(-MOST_COMPACTIONS)
        return { ...state, compactions: usable(compactions, event) }
      }
      case 'resource_ingested':
        return event.data.descriptor === undefined
          ? state
          : withResources(state, [event.data.descriptor])
      case 'compaction_undone': {
        const { compaction_event_id: undone } = event.data
        return { ...state, compactions: state.compactions.filter(({ id }) => id !== undone) }
      }
      // Event types that a list of Sessions does not show. All are listed, so that a new type requires a decision.
      case 'late_context':
      case 'project_instructions':
      case 'skill_activation':
      case 'skill_context_hydration':
      case 'provider_request':
      case 'assistant_message':
      case 'reasoning':
      case 'tool_call':
      case 'command_watched':
      case 'permission_asked':
      case 'tool_result':
      case 'shell_command':
      case 'shell_result':
      case 'plan_updated':
      case 'permission_decision':
      case 'resource_view':
      case 'resource_retired':
      case 'resource_dropped':
      case 'resource_quarantined':
      case 'files_restored':
      case 'text_pinned':
      case 'text_unpinned':
      case 'log_repaired':
      case 'lock_taken':
      case 'notice':
        return state
      default:
        return event satisfies never
    }
  },
}

/**
 * A fork continues with what its first line says. What it costs is counted from there, and the conversation of an Instance stays
 * with its parent.
 */
function afterFork(
  { tether: _tether, cost_usd: _cost, ...state }: SessionState,
  { data }: KnownEvent<'session_fork'>,
  vouched: boolean,
): SessionState {
  const { root_session_id, parent_session_id } = data
  const chosen = {
    provider: data.provider ?? state.provider,
    model: data.model ?? state.model,
    mode: data.mode ?? state.mode,
    permission_mode: data.permission_mode ?? state.permission_mode,
  }
  // Its parent is missing.
  const isFirst = state.provider === ''
  const began = isFirst ? { ...chosen, starting_mode: chosen.mode } : {}
  const title = data.title ?? state.title
  return {
    ...state,
    ...began,
    ...settingsInForce({ ...state, ...began }, chosen, vouched),
    title,
    root_session_id,
    parent_session_id,
  }
}

/** The newest are kept, as many as a fork names. */
function withResources(
  state: SessionState,
  added: readonly { readonly resource_id: ResourceId }[],
): SessionState {
  if (added.length === 0) return state
  const { count, newest } = state.resources
  const ids = [...newest, ...added.map(({ resource_id }) => resource_id)]
  const resources = { count: count + added.length, newest: ids.slice(-LIMITS.fork_resources) }
  return { ...state, resources }
}

type ChosenSettings = Pick<SessionState, 'provider' | 'model' | 'mode' | 'permission_mode'>

/** What a line sets: if it is not vouched for, only stricter modes. */
function settingsInForce(
  state: SessionState,
  chosen: ChosenSettings,
  vouched: boolean,
): Partial<ChosenSettings> {
  if (vouched) return chosen
  const { mode, permission_mode } = chosen
  return {
    mode: state.mode === 'plan' ? state.mode : mode,
    permission_mode: narrower(state.permission_mode, permission_mode),
  }
}

/** Raw Events never begin before those of an earlier checkpoint. If a Log claims it, no position is used. */
function usable(
  compactions: CompactionPlace[],
  { data: { range } }: KnownEvent<'history_compaction'>,
): CompactionPlace[] {
  const last = compactions.at(-1)?.tail?.seq ?? (range === undefined ? Infinity : -1)
  const isOrdered = compactions.every(({ tail }) => tail === null || tail.seq <= last)
  return isOrdered ? compactions : compactions.map(({ id }) => ({ id, tail: null }))
}

function compactionPlace({ id, seq, data }: KnownEvent<'history_compaction'>): CompactionPlace {
  const { range, tail } = data
  if (range === undefined || tail?.from_offset === undefined || tail.from_prev === undefined)
    return { id, tail: null }
  const { from_seq, from_offset: offset, from_prev: prev } = tail
  return { id, tail: replacesRange(seq, { range, tail }) ? { offset, seq: from_seq, prev } : null }
}
