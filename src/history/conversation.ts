import { checkpoint as checkpointText, pinned, unpinned } from '../prompt/words/checkpoint.ts'
import * as notes from '../prompt/words/notes.ts'
import * as words from '../prompt/words/resources.ts'
import * as skills from '../prompt/words/skills.ts'
import { elided, NO_RESULT } from '../prompt/words/results.ts'
import type { Replay } from '../model/modes.ts'
import type { ConversationItem, Part } from '../model/conversation.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/events/event.ts'
import { ANSWER_REPEATED } from '../model/events/notice.ts'
import type { TurnId } from '../model/ids.ts'
import { historyOf, isElided, NO_STATE, type History } from './history.ts'
import { appendedParts, instructionParts, textsBefore } from './instructions.ts'
import { refusedTurns } from './refused-turns.ts'
import { SessionResources } from './session-resources.ts'
import { summaryTurns } from './summary-turns.ts'
import { transientsAt, type Transients } from './transients.ts'
import { currentMessage, originalPart, stableText, userParts, variantPart } from './user-parts.ts'
import { withheldBy } from './withheld-upload.ts'

/** The parameters that decide which bytes a Conversation shows. */
export interface RequestScope {
  /** The Turn that the next request belongs to. */
  readonly turn: TurnId | undefined
  readonly replay: Replay
}

type Call = Extract<ConversationItem, { kind: 'tool_call' }>
type CallResult = Extract<ConversationItem, { kind: 'tool_result' }>

/**
 * A Conversation that grows with its Turn. Items never move and their texts never change: retired parts are omitted as
 * a whole, and the items before and after them stay unchanged. While calls wait for results, other items are queued
 * after the last result.
 */
export class Conversation {
  readonly #transients: Transients
  readonly #refusedTurns: ReadonlySet<TurnId>
  readonly #summaries: ReadonlySet<TurnId>
  readonly #turn: TurnId | undefined
  readonly #resources: SessionResources
  readonly #elisions: History['elisions']
  readonly #checkpoint: History['checkpoint']
  readonly #items: ConversationItem[] = []
  /** The Turn that started last. */
  #lastStart: WholeEvent<'turn_started'> | undefined
  #calls: Call[] = []
  #results = new Map<string, CallResult>()
  #behind: ConversationItem[] = []
  #isSettled = true
  /** The Turn of an incomplete answer that no request followed yet. */
  #brokenOff: TurnId | undefined

  /**
   * Without the items of the first `shown` raw Events, which an earlier request showed: none of their calls may lack its result.
   */
  constructor(all: readonly WholeEvent[], scope: RequestScope, shown = 0) {
    const { checkpoint, state, elisions, events } = historyOf(all)
    this.#transients = transientsAt(all, scope.turn, scope.replay)
    this.#refusedTurns = refusedTurns(events)
    this.#summaries = summaryTurns(events)
    this.#turn = scope.turn
    // Resources from before the checkpoint are shown only by views, which name all that is needed.
    this.#resources = new SessionResources({ state: NO_STATE, events })
    this.#elisions = elisions
    this.#checkpoint = checkpoint
    if (checkpoint !== undefined && shown === 0) {
      this.#note(checkpoint.seq, stableText(checkpointText(checkpoint.data)))
      for (const text of state.appended ?? []) this.#note(checkpoint.seq, appendedParts(text))
      for (const text of textsBefore(state)) this.#note(checkpoint.seq, instructionParts(text))
    }
    if (shown > 0) this.#lastStart = lastStarted(events.slice(0, shown))
    for (let at = shown; at < events.length; at += 1) {
      const event = events[at]
      if (event !== undefined) this.#take(event)
    }
  }

  /** Every call so far has its result, and no Turn is hidden from another. */
  get isSettled(): boolean {
    return this.#isSettled && this.#summaries.size === 0
  }

  /** All items so far; a call without a result gets one that says so. Earlier items stay the same objects. */
  items(): ConversationItem[] {
    this.#closeCalls()
    return this.#items
  }

  /** The items since the last call of this method; they are returned only once. */
  take(): ConversationItem[] {
    this.#closeCalls()
    return this.#items.splice(0)
  }

  /**
   * Adds the next Event of the Turn. An Event for which `changesExistingItems` returns true requires a new Conversation
   * instead.
   */
  add(event: WholeEvent): void {
    this.#resources.add(event)
    this.#take(event)
  }

  /** Adds the result of an open call before its Event, which then adds nothing. */
  settle(result: CallResult): void {
    this.#result(result)
  }

  #take(event: WholeEvent): void {
    const { seq, turn_id } = event
    if (turn_id !== undefined && this.#isHidden(turn_id)) return
    switch (event.type) {
      case 'user_message':
        return this.#put({
          kind: 'user',
          seq,
          parts: this.#userParts(event),
          ...(event.data.prompt_mode === 'string' ? { form: 'string' } : {}),
        })
      case 'late_context':
        return this.#put({
          kind: 'developer',
          seq,
          parts: stableText(notes.lateContext(event.data)),
        })
      case 'project_instructions':
        // What the person adds belongs to the Session, not to a Turn.
        if (event.data.reason === 'appended') return this.#note(seq, appendedParts(event.data))
        return this.#put({ kind: 'developer', seq, parts: instructionParts(event.data) })
      case 'assistant_message':
        if (event.data.partial === true) this.#brokenOff = turn_id
        return this.#answer({ kind: 'assistant', seq, ...assistantContent(event) })
      case 'reasoning': {
        const { dialect, model, item } = event.data
        return this.#answer({ kind: 'reasoning', seq, dialect, model, item })
      }
      case 'tool_call': {
        const { call_id, name, arguments: text } = event.data
        return this.#call({ kind: 'tool_call', seq, call_id, name, arguments: text })
      }
      case 'tool_result': {
        const { call_id, name, outcome } = event.data
        const output = this.#shownOutput(event)
        return this.#result({ kind: 'tool_result', seq, call_id, name, outcome, output })
      }
      case 'resource_view':
        return this.#put({ kind: 'user', seq, parts: this.#viewParts(event) })
      case 'skill_activation':
        return this.#put({ kind: 'developer', seq, parts: this.#skillParts(event) })
      case 'skill_context_hydration':
        return this.#put({ kind: 'developer', seq, parts: this.#hydrationParts(event) })
      case 'files_restored':
        return this.#note(seq, stableText(notes.filesRestored(event.data)))
      case 'text_pinned':
      case 'text_unpinned':
        return this.#pin(event)
      case 'turn_started':
        this.#lastStart = event
        return undefined
      case 'turn_ended': {
        const text = notes.turnEnded(event.data)
        return text === undefined ? undefined : this.#note(seq, stableText(text))
      }
      case 'provider_request':
        this.#brokenOff = undefined
        return undefined
      case 'history_compaction':
        return this.#askAgain(event)
      case 'notice':
        return event.data.code === ANSWER_REPEATED ? this.#askAgain(event) : undefined
      // Event types that a model is never shown. All are listed, so that a new type requires a decision.
      case 'session_started':
      case 'session_fork':
      case 'session_settings':
      case 'prompt_surface':
      case 'provider_usage':
      case 'command_watched':
      case 'shell_command':
      case 'shell_result':
      case 'permission_asked':
      case 'plan_updated':
      case 'permission_decision':
      case 'resource_ingested':
      case 'resource_retired':
      case 'resource_dropped':
      case 'resource_quarantined':
      case 'compaction_undone':
      case 'log_repaired':
      case 'lock_taken':
        return undefined
      default:
        return event satisfies never
    }
  }

  /** The same call is repeated: the model would otherwise continue where the person's text ends. */
  #askAgain({ seq, turn_id }: WholeEvent<'history_compaction' | 'notice'>): void {
    if (turn_id === undefined || this.#brokenOff !== turn_id) return
    this.#put({ kind: 'developer', seq, parts: stableText(notes.ANSWER_AGAIN) })
  }

  #isHidden(turn: TurnId): boolean {
    return this.#refusedTurns.has(turn) || (this.#summaries.has(turn) && turn !== this.#turn)
  }

  /** The output of a call, or a pointer to it. */
  #shownOutput({ seq, data }: WholeEvent<'tool_result'>): string {
    return isElided(this.#elisions, seq, data) ? elided({ ...data, seq }) : data.output
  }

  /** Adds a note about something between two Turns, or before the first one. */
  #note(seq: number, parts: Part[]): void {
    this.#put({ kind: 'developer', seq, parts, between: true })
  }

  /** A checkpoint carries the texts that were pinned when it was made. */
  #pin({ type, seq, data: { text } }: WholeEvent<'text_pinned' | 'text_unpinned'>): void {
    if (seq < (this.#checkpoint?.seq ?? 0)) return
    this.#note(seq, stableText(type === 'text_pinned' ? pinned(text) : unpinned(text)))
  }

  #userParts(event: WholeEvent<'user_message'>): Part[] {
    const parts = this.#messageParts(event)
    const { turn_id } = event
    if (turn_id === undefined || !this.#summaries.has(turn_id)) return parts
    return parts.map((part) => ({ ...part, lifetime: 'turn' }))
  }

  #messageParts(event: WholeEvent<'user_message'>): Part[] {
    const shownAs = (resource: Descriptor) => {
      const loss = this.#transients.lossOf(resource.resource_id)
      // Stays as long as the descriptor does: without it, later Turns would claim that the content was shown.
      return loss === undefined
        ? this.#transients.lifetimeOf(event.turn_id, resource.resource_id)
        : stableText(words.lost(resource.handle, loss))
    }
    return userParts(currentMessage(event, this.#checkpoint), shownAs, this.#senderOf(event))
  }

  /** Text that is added to a running Turn may be from another person. */
  #senderOf({ turn_id, data }: WholeEvent<'user_message'>): string | undefined {
    if (data.steer === true || this.#lastStart?.turn_id !== turn_id) return undefined
    return this.#lastStart?.data.source.user?.name
  }

  #viewParts(event: WholeEvent<'resource_view'>): Part[] {
    const evidence = stableText(words.view(event.data))
    const { outcome, variant, handle, resource_id } = event.data
    const shown = { ...event, resource: resource_id }
    const lifetime = this.#transients.turnOnly(shown)
    const descriptor = event.data.descriptor ?? this.#resources.byId(resource_id)?.descriptor
    if (outcome !== 'projected' || descriptor === undefined) return evidence
    const loss = this.#transients.lossSince(shown)
    // The correction stays: a later Turn must not assume that the announced bytes were seen.
    if (loss !== undefined) return [...evidence, ...stableText(words.lost(handle, loss))]
    if (lifetime === undefined) return evidence
    if (variant === undefined) return [...evidence, ...originalPart(descriptor, lifetime)]
    return [...evidence, ...variantPart(event.data, variant, lifetime)]
  }

  /** A body appears once, where the Skill was activated, and stays until a checkpoint covers it. */
  #skillParts(event: WholeEvent<'skill_activation'>): Part[] {
    const { name, blob, args, filled_bytes, context_sources = [] } = event.data
    const filled = filled_bytes === undefined ? {} : { args, text_bytes: filled_bytes }
    return [
      ...stableText(skills.skill(event.data)),
      { type: 'blob', blob, media_type: 'text/markdown', ...filled, lifetime: 'stable' },
      ...(context_sources.length === 0
        ? []
        : stableText(skills.skillSources(name, context_sources))),
    ]
  }

  #hydrationParts(event: WholeEvent<'skill_context_hydration'>): Part[] {
    const { context_source_id, output } = event.data
    const evidence = stableText(skills.hydration(event.data))
    const lifetime = this.#transients.turnOnly(event)
    if (lifetime === undefined || output === '') return evidence
    const text = skills.hydratedText(context_source_id, output)
    return [...evidence, { type: 'text', text, lifetime }]
  }

  #put(item: ConversationItem): void {
    if (this.#calls.length > 0) this.#behind.push(item)
    else this.#items.push(item)
  }

  /** Output of the model starts a new answer, so the calls of the previous answer are complete. */
  #answer(item: ConversationItem): void {
    if (this.#results.size > 0) this.#closeCalls()
    this.#items.push(item)
  }

  #call(call: Call): void {
    if (this.#results.size > 0) this.#closeCalls()
    this.#calls.push(call)
    this.#items.push(call)
  }

  /** A result without its call is ignored. */
  #result(result: CallResult): void {
    // Nearly all answers have one call.
    const isOnly = this.#calls.length === 1 && this.#behind.length === 0
    if (isOnly && this.#calls[0]?.call_id === result.call_id) {
      this.#calls = []
      this.#items.push(result)
      return
    }
    if (!this.#calls.some(({ call_id }) => call_id === result.call_id)) return
    this.#results.set(result.call_id, result)
    if (this.#results.size === this.#calls.length) this.#closeCalls()
  }

  /** Results in the order of their calls, whatever order they arrived in; then the queued items. */
  #closeCalls(): void {
    if (this.#calls.length === 0) return
    for (const { call_id, name, seq } of this.#calls) {
      const result = this.#results.get(call_id)
      if (result === undefined) this.#isSettled = false
      const unknown = { kind: 'tool_result', seq, call_id, name, outcome: 'unknown' } as const
      this.#items.push(result ?? { ...unknown, output: NO_RESULT })
    }
    this.#items.push(...this.#behind)
    this.#calls = []
    this.#results = new Map()
    this.#behind = []
  }
}

/**
 * Whether an Event changes items that are already in the Conversation of `turn`. If so, it must be folded again; any
 * other Event only appends its item, if it has one.
 */
export function changesExistingItems(event: WholeEvent, turn: TurnId | undefined): boolean {
  switch (event.type) {
    case 'history_compaction':
    case 'compaction_undone':
    case 'resource_retired':
    case 'resource_dropped':
    case 'resource_quarantined':
      return true
    // The model has now seen what another Turn attached, so it is carried no further.
    case 'provider_usage':
      return event.turn_id !== turn
    case 'turn_ended':
      return event.data.status === 'refused'
    case 'turn_started':
      return event.data.purpose !== undefined
    case 'permission_decision':
      return withheldBy(event.data) !== undefined
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'user_message':
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
    case 'resource_ingested':
    case 'resource_view':
    case 'files_restored':
    case 'text_pinned':
    case 'text_unpinned':
    case 'log_repaired':
    case 'lock_taken':
    case 'notice':
      return false
    default:
      return event satisfies never
  }
}

function lastStarted(events: readonly WholeEvent[]): WholeEvent<'turn_started'> | undefined {
  return events.findLast((event) => event.type === 'turn_started')
}

function assistantContent({ data: { text, phase } }: WholeEvent<'assistant_message'>) {
  const named = phase === undefined ? {} : { phase }
  return { parts: stableText(text), ...named }
}
