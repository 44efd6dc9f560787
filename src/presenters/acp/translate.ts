import type { SessionUpdate as Update } from '@agentclientprotocol/sdk'
import { eventNotices } from '../../history/results/event-notices.ts'
import { laterNotices } from '../../history/results/turn-notices.ts'
import type { ResourceOf } from '../../history/session-resources.ts'
import type { EphemeralEvent, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import type { ClientOffers } from './protocol.ts'
import { notice, type Severity } from './notice.ts'
import { compactionUpdates, pressureUpdates, tierWords } from './pressure.ts'
import {
  outputContent,
  resourceLink,
  resultContent,
  shownCall,
  textBlock,
  type ShownChange,
} from './tool-call.ts'
import { endWords } from './turn-end.ts'

export interface TranslationParts {
  readonly session: SessionId
  /** Its path, as the client spells it. */
  readonly workspace: string
  readonly offers: Pick<ClientOffers, 'notices' | 'compaction'>
  /** The costs of all earlier calls are known, because the Log is read from its start. */
  readonly fromStart: boolean
  readonly resourceOf?: ResourceOf
}

/** What a translation cannot know from the update itself. */
export interface UpdateFacts {
  /** The Turn was started by this client, which shows its own message already. */
  readonly own?: boolean
  /** It happened before the client came. */
  readonly past?: boolean
  /** A command of this client did it, and the answer to the command says so. */
  readonly isAnswered?: boolean
  /** For a changed file. */
  readonly change?: ShownChange | undefined
}

/**
 * Translates what happens in a Session to updates of ACP, in order. The same Events give the same message ids, live or
 * replayed. Does no I/O.
 */
export class EditorTranslation {
  readonly #parts: TranslationParts
  /** Requests to the model in this Turn: the texts of one answer share an id. */
  #requests = 0
  /** Text of the current answer that was sent before its Event came. */
  #sentText = ''
  /** The Turn only asks for the summary of a checkpoint. */
  #isHidden = false
  /** The results of this Turn, without their output. */
  #results: WholeEvent<'tool_result'>[] = []
  /** The newest output of running calls. */
  readonly #output = new Map<string, string>()
  /** Undefined once the cost of a call is unknown. */
  #cost: number | undefined
  /** The id of the message that a client would add further text to. */
  #open: string | undefined

  constructor(parts: TranslationParts) {
    this.#parts = parts
    this.#cost = parts.fromStart ? 0 : undefined
  }

  updates(update: SessionUpdate, facts: UpdateFacts = {}): readonly Update[] {
    return this.#translateOne(update, facts).map((one) => this.#apart(one))
  }

  /** The answer to a command, which the client shows before it. */
  answer(text: string, messageId: string): Update {
    this.#open = undefined
    return this.#apart({
      sessionUpdate: 'agent_message_chunk',
      messageId,
      content: textBlock(text),
    })
  }

  /** Clients that ignore the ids of messages join what follows without a break. */
  #apart(update: Update): Update {
    if (BREAKS.has(update.sessionUpdate)) this.#open = undefined
    if (update.sessionUpdate !== 'agent_message_chunk') return update
    const { content, messageId } = update
    const isJoined = this.#open !== undefined && this.#open !== messageId
    this.#open = messageId ?? ''
    if (!isJoined || content.type !== 'text') return update
    return { ...update, content: { ...content, text: `\n\n${content.text}` } }
  }

  #translateOne(update: SessionUpdate, facts: UpdateFacts): readonly Update[] {
    switch (update.kind) {
      case 'event':
        return update.event === undefined ? [] : this.#ofEvent(update.event, facts)
      case 'ephemeral':
        return this.#isHidden ? [] : this.#ofEphemeral(update.ephemeral)
      case 'rewound':
        this.#sentText = ''
        return []
      case 'failed':
        return this.#notice('error', update.error.message)
      default:
        return update satisfies never
    }
  }

  #ofEvent(event: WholeEvent, facts: UpdateFacts): readonly Update[] {
    const { session, workspace } = this.#parts
    switch (event.type) {
      case 'turn_started':
        // A message of the person follows, even if only the client itself shows it.
        this.#open = undefined
        this.#requests = 0
        this.#results = []
        this.#sentText = ''
        this.#isHidden = event.data.purpose !== undefined
        return []
      case 'user_message':
        return this.#isHidden ? [] : this.#userMessage(event, facts)
      case 'provider_request':
        this.#requests += 1
        this.#sentText = ''
        return []
      case 'assistant_message':
        return this.#isHidden ? [] : this.#rest(event)
      case 'tool_call': {
        const { call_id: toolCallId } = event.data
        const call = shownCall(event.data, workspace)
        return [{ sessionUpdate: 'tool_call', toolCallId, ...call, status: 'in_progress' }]
      }
      case 'tool_result': {
        const { call_id: toolCallId, outcome } = event.data
        this.#results.push({ ...event, data: { ...event.data, output: '' } })
        this.#output.delete(toolCallId)
        const content = resultContent(event.data, { session, workspace, change: facts.change })
        const status = outcome === 'ok' ? 'completed' : 'failed'
        return [{ sessionUpdate: 'tool_call_update', toolCallId, status, content }]
      }
      case 'plan_updated': {
        const entries = event.data.entries.map(({ content, status, priority = 'medium' }) => {
          return { content, status, priority }
        })
        return [{ sessionUpdate: 'plan', entries }]
      }
      case 'resource_ingested': {
        const { descriptor, origin } = event.data
        if (origin !== 'egress') return []
        return [this.#chunk(event.turn_id, resourceLink(descriptor, session))]
      }
      case 'provider_usage':
        return this.#usage(event, facts)
      case 'history_compaction':
        return (
          compactionUpdates(event, this.#parts.offers, facts.past === true) ??
          this.#updatesOf(event, facts)
        )
      case 'notice': {
        if (facts.past === true || facts.isAnswered === true) return []
        const [severity, text, meta] = tierWords(event.data) ?? ['info', event.data.text]
        return this.#notice(severity, text, event.id, meta)
      }
      case 'skill_context_hydration':
      case 'resource_view':
      case 'resource_retired':
      case 'resource_dropped':
      case 'compaction_undone':
      case 'files_restored':
      case 'log_repaired':
        return this.#updatesOf(event, facts)
      case 'turn_ended':
        return this.#turnEnded(event, facts)
      // Event types that an editor does not show. All are listed, so that a new type requires a decision.
      case 'session_started':
      case 'session_settings':
      case 'session_fork':
      case 'prompt_surface':
      case 'late_context':
      case 'project_instructions':
      case 'skill_activation':
      case 'reasoning':
      case 'command_watched':
      case 'workspace_snapshot':
      case 'shell_command':
      case 'shell_result':
      case 'permission_asked':
      case 'permission_decision':
      case 'resource_quarantined':
      case 'text_pinned':
      case 'text_unpinned':
      case 'lock_taken':
        return []
      default:
        return event satisfies never
    }
  }

  #ofEphemeral(live: EphemeralEvent): readonly Update[] {
    switch (live.type) {
      case 'text_delta':
        this.#sentText += live.data.text
        return [this.#chunk(live.turn_id, textBlock(live.data.text))]
      case 'reasoning_delta': {
        const messageId = this.#idOf(live.turn_id, 'thought')
        const content = textBlock(live.data.text)
        return [{ sessionUpdate: 'agent_thought_chunk', messageId, content }]
      }
      case 'tool_progress': {
        const { call_id: toolCallId, text } = live.data
        const output = `${this.#output.get(toolCallId) ?? ''}${text}`.slice(-OUTPUT_CHARACTERS)
        this.#output.set(toolCallId, output)
        const content = outputContent(output)
        return [{ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content }]
      }
      case 'status':
        return this.#parts.offers.notices ? [notice('info', live.data.text)] : []
      case 'stream_restarted':
        // The text that was sent stays; its Event follows.
        return this.#parts.offers.notices ? [notice('warning', RESTARTED)] : []
      case 'context_pressure':
        return pressureUpdates(live.data)
      case 'permission_requested':
      case 'permission_settled':
        return []
      default:
        return live satisfies never
    }
  }

  /** Resources are links in any case: their bytes are read through Hawser. */
  #userMessage(event: WholeEvent<'user_message'>, { own = false }: UpdateFacts): readonly Update[] {
    const { text, resources = [], steer } = event.data
    const refused = this.#notices(event)
    if (own && steer !== true) return refused
    const blocks = [
      ...(text === '' ? [] : [textBlock(text)]),
      ...resources.map((one) => resourceLink(one, this.#parts.session)),
    ]
    const messageId = event.id
    return [
      ...blocks.map((content): Update => {
        return { sessionUpdate: 'user_message_chunk', messageId, content }
      }),
      ...refused,
    ]
  }

  /** What was not sent yet: all of it on replay, and where a client was too slow for every delta. */
  #rest({ turn_id, data: { text } }: WholeEvent<'assistant_message'>): readonly Update[] {
    const sent = this.#sentText
    this.#sentText = ''
    if (sent.startsWith(text)) {
      // One answer may have several texts.
      this.#sentText = sent.slice(text.length)
      return []
    }
    if (text.startsWith(sent)) return [this.#chunk(turn_id, textBlock(text.slice(sent.length)))]
    const messageId = `${this.#idOf(turn_id, 'answer')}:whole`
    return [{ sessionUpdate: 'agent_message_chunk', messageId, content: textBlock(text) }]
  }

  #usage(event: WholeEvent<'provider_usage'>, { past = false }: UpdateFacts): readonly Update[] {
    const { usage, pressure, cost_usd } = event.data
    this.#cost =
      this.#cost === undefined || cost_usd === undefined ? undefined : this.#cost + cost_usd
    if (past || pressure === 'unavailable') return []
    const cost = this.#cost === undefined ? {} : { cost: { amount: this.#cost, currency: 'USD' } }
    const used = usage.input + usage.output
    return [{ sessionUpdate: 'usage_update', used, size: pressure.window_tokens, ...cost }]
  }

  #turnEnded(
    { turn_id, data }: WholeEvent<'turn_ended'>,
    { past = false }: UpdateFacts,
  ): readonly Update[] {
    this.#output.clear()
    const words = this.#isHidden ? undefined : endWords(data)
    const later = past ? [] : laterNotices(this.#results)
    const changed = later.flatMap(({ text }, at) =>
      this.#notice('warning', text, `${turn_id ?? ''}:changed:${at}`),
    )
    this.#isHidden = false
    if (words === undefined) return changed
    const { error, crash_recovered } = data
    const facts = {
      ...definedFields({ kind: error?.kind }),
      ...(crash_recovered === true ? { crash_recovered } : {}),
    }
    const messageId = `${turn_id ?? ''}:end`
    const content = textBlock(words)
    const _meta = { hawser: facts }
    return [...changed, { sessionUpdate: 'agent_message_chunk', messageId, content, _meta }]
  }

  /** What happened while the client was there, unless its command is answered with it. */
  #updatesOf(event: WholeEvent, { past, isAnswered }: UpdateFacts): readonly Update[] {
    return past === true || isAnswered === true ? [] : this.#notices(event)
  }

  #notices(event: WholeEvent): readonly Update[] {
    return eventNotices(event, this.#parts.resourceOf).flatMap(({ text }, at) =>
      this.#notice('warning', text, `${event.id}:${at}`),
    )
  }

  #chunk(turn: string | undefined, content: ReturnType<typeof textBlock>): Update {
    const messageId = this.#idOf(turn, 'answer')
    return { sessionUpdate: 'agent_message_chunk', messageId, content }
  }

  #idOf(turn: string | undefined, what: 'answer' | 'thought'): string {
    return `${turn ?? ''}:${what}:${this.#requests}`
  }

  /** A client without notices gets what a person must know as a message. */
  #notice(severity: Severity, text: string, messageId?: string, meta?: object): readonly Update[] {
    if (this.#parts.offers.notices) return [notice(severity, text, meta)]
    const id = definedFields({ messageId })
    return [{ sessionUpdate: 'agent_message_chunk', ...id, content: textBlock(text) }]
  }
}

/** What a client shows between two messages. */
const BREAKS: ReadonlySet<Update['sessionUpdate']> = new Set([
  'user_message_chunk',
  'tool_call',
  'plan',
])

const OUTPUT_CHARACTERS = 8 * 1024
const RESTARTED = 'The connection to the model failed. The answer is requested again.'
