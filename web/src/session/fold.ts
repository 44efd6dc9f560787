import { eventNotices } from '../../../src/history/results/event-notices.ts'
import { laterNotices } from '../../../src/history/results/turn-notices.ts'
import { SessionResources } from '../../../src/history/session-resources.ts'
import { reasoningText } from '../../../src/history/reasoning-text.ts'
import type { LogLine, WholeEvent } from '../api/shapes.ts'
import { lossIn } from './losses.ts'
import type { QuestionElsewhere, Steered, TurnItem, TurnView } from './turn-view.ts'

/**
 * The Events of a Session as Turns to draw. Events come in order; a Turn that changes is a new object, and every other one stays
 * the same, so that only what changed is drawn again.
 */
export class SessionFold {
  readonly #turns: TurnView[] = []
  readonly #at = new Map<string, number>()
  readonly #resources = new SessionResources()
  readonly #keys = new Set<string>()
  readonly #steered: Steered[] = []
  /** Events of the open Turn with notices that depend on all of them. */
  #own: WholeEvent[] = []
  #settings: SessionSettings = {}
  #asked: QuestionElsewhere | undefined
  #pressure: Fullness | undefined
  #last = -1

  get turns(): readonly TurnView[] {
    return [...this.#turns]
  }

  /** The number of the last Event. */
  get last(): number {
    return this.#last
  }

  /** The keys of all messages whose Turn has begun. */
  get messageKeys(): ReadonlySet<string> {
    return this.#keys
  }

  /** The texts that were added to running Turns. */
  get steered(): readonly Steered[] {
    return [...this.#steered]
  }

  /** How full the window of the model was at the last request. */
  get pressure(): Fullness | undefined {
    return this.#pressure
  }

  get settings(): SessionSettings {
    return this.#settings
  }

  /** The question that has no decision yet. */
  get asked(): QuestionElsewhere | undefined {
    return this.#asked
  }

  get openTurn(): TurnView | undefined {
    return this.#turns.findLast(({ status }) => status === 'open')
  }

  add(line: LogLine): void {
    if (line.event.seq <= this.#last) return
    this.#last = line.event.seq
    if (!line.known) return
    const { event } = line
    this.#resources.add(event)
    this.#noteSettings(event)
    this.#noteQuestion(event)
    if (event.type === 'turn_started') return this.#begin(event)
    const notices = eventNotices(event, (id) => this.#resources.byId(id)?.descriptor)
    const item = this.#viewIn(event) ?? itemOf(event)
    if (event.type === 'tool_result') this.#own.push(event)
    this.#change(event, (turn) => ({
      ...turn,
      ...endOf(event),
      projected: projectedIn(event, turn.projected),
      losses: lossIn(event, turn.losses),
      items: [
        ...withResult(turn.items, event),
        ...(item === undefined ? [] : [item]),
        ...notices.map((one): TurnItem => ({ kind: 'notice', seq: event.seq, ...one })),
        ...this.#laterNotices(event),
      ],
    }))
  }

  #begin(event: WholeEvent<'turn_started'>): void {
    const { source, purpose } = event.data
    this.#own = []
    if (source.message_key !== undefined) this.#keys.add(source.message_key)
    this.#append({
      ...emptyTurn(event, event.turn_id),
      presenter: source.presenter,
      messageKey: source.message_key,
      status: 'open',
      isHidden: purpose !== undefined,
    })
  }

  /** Changes the Turn of an Event. What belongs to none is drawn between two, if it is drawn at all. */
  #change(event: WholeEvent, change: (turn: TurnView) => TurnView): void {
    const id = event.turn_id
    const known = id === undefined ? this.#between() : this.#at.get(id)
    if (known !== undefined) {
      const turn = this.#turns[known]
      if (turn !== undefined) this.#turns[known] = change(turn)
      return
    }
    const changed = change(emptyTurn(event, id))
    if (id !== undefined || changed.items.length > 0) this.#append(changed)
  }

  #between(): number | undefined {
    return this.#turns.at(-1)?.status === 'between' ? this.#turns.length - 1 : undefined
  }

  #append(turn: TurnView): void {
    if (turn.turnId !== undefined) this.#at.set(turn.turnId, this.#turns.length)
    this.#turns.push(turn)
  }

  #laterNotices(event: WholeEvent): TurnItem[] {
    if (event.type !== 'turn_ended') return []
    const own = this.#own.filter(({ turn_id }) => turn_id === event.turn_id)
    return laterNotices(own).map((one) => ({ kind: 'notice', seq: event.seq, ...one }))
  }

  #viewIn(event: WholeEvent): TurnItem | undefined {
    if (event.type !== 'resource_view' || event.data.outcome !== 'projected') return undefined
    const { seq, data: view } = event
    const known = this.#resources.byId(view.resource_id)?.descriptor
    return { kind: 'view', seq, view, descriptor: view.descriptor ?? known }
  }

  #noteSettings(event: WholeEvent): void {
    if (event.type === 'user_message' && event.data.steer === true)
      this.#steered.push({ seq: event.seq, text: event.data.text })
    if (event.type === 'provider_usage') {
      const { pressure } = event.data
      this.#pressure = pressure === 'unavailable' ? undefined : pressure
    }
    if (
      event.type !== 'session_started' &&
      event.type !== 'session_settings' &&
      event.type !== 'session_fork'
    )
      return
    const given = Object.entries(event.data).filter(([, value]) => value !== undefined)
    this.#settings = { ...this.#settings, ...Object.fromEntries(given) }
  }

  #noteQuestion({ type, data, turn_id }: WholeEvent): void {
    if (type === 'permission_asked') this.#asked = { subject: data.subject, turnId: turn_id }
    if (type === 'permission_decision' || type === 'turn_ended') this.#asked = undefined
  }
}

/** How full the window of a model is. */
export interface Fullness {
  readonly ratio: number
  readonly window_tokens: number
}

export interface SessionSettings {
  readonly provider?: string
  readonly model?: string
  readonly effort?: string
  readonly mode?: string
  readonly permission_mode?: string
  readonly title?: string
}

function emptyTurn(event: WholeEvent, turnId: string | undefined): TurnView {
  return {
    key: turnId ?? `between-${event.seq}`,
    turnId,
    seq: event.seq,
    startedAt: event.ts,
    presenter: '',
    messageKey: undefined,
    status: turnId === undefined ? 'between' : 'open',
    error: undefined,
    crashRecovered: false,
    usage: undefined,
    items: [],
    projected: new Set(),
    losses: new Map(),
    isHidden: false,
  }
}

function itemOf(event: WholeEvent): TurnItem | undefined {
  const { seq } = event
  switch (event.type) {
    case 'user_message':
      return { kind: 'message', seq, message: event.data }
    case 'assistant_message': {
      const { text, partial, resources = [] } = event.data
      return { kind: 'answer', seq, text, isPartial: partial === true, resources }
    }
    case 'reasoning': {
      const text = reasoningText(event.data.item)
      return text === '' ? undefined : { kind: 'thinking', seq, text }
    }
    case 'tool_call':
      return { kind: 'call', seq, call: event.data }
    case 'plan_updated':
      return { kind: 'plan', seq, entries: event.data.entries }
    case 'permission_decision':
      return event.data.by === 'person' || event.data.by === 'timeout'
        ? { kind: 'decision', seq, decision: event.data }
        : undefined
    case 'shell_command':
      return { kind: 'command', seq, command: event.data }
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'turn_started':
    case 'late_context':
    case 'project_instructions':
    case 'skill_activation':
    case 'skill_context_hydration':
    case 'provider_request':
    case 'command_watched':
    case 'workspace_snapshot':
    case 'tool_result':
    case 'shell_result':
    case 'permission_asked':
    case 'resource_ingested':
    case 'resource_view':
    case 'resource_retired':
    case 'resource_dropped':
    case 'resource_quarantined':
    case 'provider_usage':
    case 'history_compaction':
    case 'compaction_undone':
    case 'files_restored':
    case 'text_pinned':
    case 'text_unpinned':
    case 'log_repaired':
    case 'lock_taken':
    case 'notice':
    case 'turn_ended':
      return undefined
    default:
      return event satisfies never
  }
}

/** A result belongs to the card of its call. A plan replaces the one before it. */
function withResult(items: readonly TurnItem[], event: WholeEvent): readonly TurnItem[] {
  if (event.type === 'tool_result')
    return items.map((item) =>
      item.kind === 'call' && item.call.call_id === event.data.call_id
        ? { ...item, result: event.data }
        : item,
    )
  if (event.type === 'shell_result')
    return items.map((item) =>
      item.kind === 'command' && item.command.command_id === event.data.command_id
        ? { ...item, result: event.data }
        : item,
    )
  return event.type === 'plan_updated' ? items.filter(({ kind }) => kind !== 'plan') : items
}

function endOf(event: WholeEvent): Partial<TurnView> {
  if (event.type !== 'turn_ended') return {}
  const { status, error, usage_total: usage, crash_recovered } = event.data
  return { status, error, usage, crashRecovered: crash_recovered === true }
}

function projectedIn(event: WholeEvent, before: ReadonlySet<string>): ReadonlySet<string> {
  if (event.type !== 'provider_request') return before
  const { projected = [] } = event.data
  if (projected.length === 0) return before
  return new Set([...before, ...projected.map(({ resource_id }) => resource_id)])
}
