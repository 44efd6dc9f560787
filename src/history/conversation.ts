import type { ConversationItem, Part } from '../model/conversation.ts'
import type { Descriptor } from '../model/descriptor.ts'
import type { WholeEvent } from '../model/event.ts'
import type { TurnId } from '../model/ids.ts'
import { historyOf } from './history.ts'
import { transientsAt, type Replay, type Transients } from './transients.ts'
import * as words from './words.ts'

export interface Now {
  /** The Turn that the next request belongs to. */
  readonly turn: TurnId | undefined
  readonly replay: Replay
}

/** The Conversation a Log amounts to. */
export function conversationOf(all: readonly WholeEvent[], now: Now): ConversationItem[] {
  return new Conversation(all, now).items()
}

/** A Turn that was refused was never put to a model. */
function refusedTurns(events: readonly WholeEvent[]): ReadonlySet<TurnId> {
  return new Set(
    events.flatMap((event) =>
      event.type === 'turn_ended' && event.data.status === 'refused' && event.turn_id !== undefined
        ? [event.turn_id]
        : [],
    ),
  )
}

type Call = Extract<ConversationItem, { kind: 'tool_call' }>
type CallResult = Extract<ConversationItem, { kind: 'tool_result' }>

/**
 * A Conversation that grows with its Turn. Items never move and their words never change: what is retired is left out, whole
 * parts at a time, and what stands before and after it stays as it was. While calls wait for results, whatever else comes
 * stands behind the last result.
 */
export class Conversation {
  readonly #transients: Transients
  readonly #refused: ReadonlySet<TurnId>
  readonly #items: ConversationItem[] = []
  #calls: Call[] = []
  #results = new Map<string, CallResult>()
  #behind: ConversationItem[] = []

  constructor(all: readonly WholeEvent[], now: Now) {
    const { checkpoint, events } = historyOf(all)
    this.#transients = transientsAt(all, now.turn, now.replay)
    this.#refused = refusedTurns(events)
    if (checkpoint !== undefined)
      this.#say('developer', checkpoint.seq, words.checkpoint(checkpoint))
    for (const event of events) this.add(event)
  }

  /** Everything so far; a call that has no result yet gets one that says so. Earlier items stay the same objects. */
  items(): ConversationItem[] {
    this.#closeCalls()
    return this.#items
  }

  /** The next Event of the Turn. One that `changesWhatStands` needs a new Conversation instead. */
  add(event: WholeEvent): void {
    const { seq, turn_id } = event
    if (turn_id !== undefined && this.#refused.has(turn_id)) return
    switch (event.type) {
      case 'user_message':
        return this.#put({ kind: 'user', seq, parts: this.#userParts(event) })
      case 'late_context':
        return this.#say('developer', seq, words.lateContext(event))
      case 'assistant_message':
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
        const { call_id, name, outcome, output } = event.data
        return this.#result({ kind: 'tool_result', seq, call_id, name, outcome, output })
      }
      case 'resource_view':
        return this.#put({ kind: 'user', seq, parts: this.#viewParts(event) })
      case 'skill_activation':
        return this.#put({ kind: 'developer', seq, parts: this.#skillParts(event) })
      case 'skill_context_hydration':
        return this.#put({ kind: 'developer', seq, parts: this.#hydrationParts(event) })
      case 'files_restored':
        return this.#say('developer', seq, words.filesRestored(event))
      case 'turn_ended': {
        const text = words.turnEnded(event)
        return text === undefined ? undefined : this.#say('developer', seq, text)
      }
      // What a model is never shown. Each is named here so that a new type has to be decided about.
      case 'session_started':
      case 'session_fork':
      case 'session_settings':
      case 'prompt_surface':
      case 'turn_started':
      case 'provider_request':
      case 'provider_usage':
      case 'plan_updated':
      case 'permission_decision':
      case 'resource_ingested':
      case 'resource_retired':
      case 'resource_dropped':
      case 'resource_quarantined':
      case 'history_compaction':
      case 'compaction_undone':
      case 'text_pinned':
      case 'log_repaired':
      case 'lock_taken':
      case 'notice':
        return undefined
      default:
        return event satisfies never
    }
  }

  #say(kind: 'user' | 'developer' | 'assistant', seq: number, text: string): void {
    this.#put({ kind, seq, parts: [{ type: 'text', text, lifetime: 'stable' }] })
  }

  /** Warning, text, descriptors, then bytes in the order they were given. */
  #userParts(event: WholeEvent<'user_message'>): Part[] {
    const { text, resources = [], attachment_errors = [], presenter_context } = event.data
    const warning = attachment_errors.length === 0 ? [] : [words.rejected(attachment_errors)]
    const volunteered =
      presenter_context === undefined ? [] : [words.presenterContext(presenter_context)]
    const texts = [...warning, text, ...resources.map(words.descriptor), ...volunteered]
    const bytes = resources.flatMap((resource) => this.#resourceBytes(event, resource))
    return [...texts.flatMap(stableText), ...bytes]
  }

  #resourceBytes(event: WholeEvent, resource: Descriptor): Part[] {
    if (resource.kind === 'link' || resource.kind === 'file') return []
    const lifetime = this.#transients.lifetimeOf(event.turn_id, resource.resource_id)
    if (lifetime === undefined) return []
    const { blob, media_type, handle, resource_id, width, height } = resource
    const size = width === undefined || height === undefined ? {} : { width, height }
    return [{ type: 'blob', blob, media_type, resource: resource_id, handle, lifetime, ...size }]
  }

  #viewParts(event: WholeEvent<'resource_view'>): Part[] {
    const evidence = stableText(words.view(event))
    const { outcome, variant, handle, resource_id } = event.data
    const lifetime = this.#transients.turnOnly(event.turn_id, resource_id)
    if (outcome !== 'projected' || variant === undefined || lifetime === undefined) return evidence
    const media_type = 'application/octet-stream'
    return [
      ...evidence,
      { type: 'blob', blob: variant, media_type, resource: resource_id, handle, lifetime },
    ]
  }

  /** A body appears once, where it was activated, and stays until a checkpoint covers it. */
  #skillParts(event: WholeEvent<'skill_activation'>): Part[] {
    const { blob } = event.data
    return [
      ...stableText(words.skill(event)),
      { type: 'blob', blob, media_type: 'text/markdown', lifetime: 'stable' },
    ]
  }

  #hydrationParts(event: WholeEvent<'skill_context_hydration'>): Part[] {
    const evidence = stableText(words.hydration(event))
    const lifetime = this.#transients.turnOnly(event.turn_id)
    if (lifetime === undefined || event.data.output === '') return evidence
    return [...evidence, { type: 'text', text: event.data.output, lifetime }]
  }

  #put(item: ConversationItem): void {
    if (this.#calls.length > 0) this.#behind.push(item)
    else this.#items.push(item)
  }

  /** A model's own words: they begin a new answer, so calls of an earlier one are over. */
  #answer(item: ConversationItem): void {
    if (this.#results.size > 0) this.#closeCalls()
    this.#items.push(item)
  }

  #call(call: Call): void {
    if (this.#results.size > 0) this.#closeCalls()
    this.#calls.push(call)
    this.#items.push(call)
  }

  /** A result without its call stands for nothing a model asked for. */
  #result(result: CallResult): void {
    if (!this.#calls.some(({ call_id }) => call_id === result.call_id)) return
    this.#results.set(result.call_id, result)
    if (this.#results.size === this.#calls.length) this.#closeCalls()
  }

  /** Results in the order of their calls, whatever order they came in; then what had to wait. */
  #closeCalls(): void {
    for (const { call_id, name, seq } of this.#calls) {
      const unknown = { kind: 'tool_result', seq, call_id, name, outcome: 'unknown' } as const
      this.#items.push(this.#results.get(call_id) ?? { ...unknown, output: words.NO_RESULT })
    }
    this.#items.push(...this.#behind)
    this.#calls = []
    this.#results = new Map()
    this.#behind = []
  }
}

/**
 * Whether an Event that follows changes what stands in the Conversation of `turn` already. After one that does, it has to be
 * folded anew; any other adds its item behind the last one, or none.
 */
export function changesWhatStands(event: WholeEvent, turn: TurnId | undefined): boolean {
  switch (event.type) {
    case 'history_compaction':
    case 'compaction_undone':
    case 'resource_retired':
    case 'resource_dropped':
    case 'resource_quarantined':
      return true
    // Then a model has seen what that other Turn brought, and it is carried no further.
    case 'provider_usage':
      return event.turn_id !== turn
    case 'turn_ended':
      return event.data.status === 'refused'
    case 'session_started':
    case 'session_fork':
    case 'session_settings':
    case 'prompt_surface':
    case 'turn_started':
    case 'user_message':
    case 'late_context':
    case 'skill_activation':
    case 'skill_context_hydration':
    case 'provider_request':
    case 'assistant_message':
    case 'reasoning':
    case 'tool_call':
    case 'tool_result':
    case 'plan_updated':
    case 'permission_decision':
    case 'resource_ingested':
    case 'resource_view':
    case 'files_restored':
    case 'text_pinned':
    case 'log_repaired':
    case 'lock_taken':
    case 'notice':
      return false
    default:
      return event satisfies never
  }
}

function assistantContent({ data: { text, phase } }: WholeEvent<'assistant_message'>) {
  const named = phase === undefined ? {} : { phase }
  return { parts: stableText(text), ...named }
}

function stableText(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text, lifetime: 'stable' }]
}
