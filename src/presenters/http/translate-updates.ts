import { eventNotices, type ResultNotice } from '../../history/results/event-notices.ts'
import { laterNotices, turnNotices } from '../../history/results/turn-notices.ts'
import type { ResourceOf } from '../../history/session-resources.ts'
import { turnCost, type TurnResult } from '../../history/results/turn-result.ts'
import type { HawserError } from '../../model/errors.ts'
import type {
  EphemeralData,
  EphemeralEvent,
  EventData,
  WholeEvent,
} from '../../model/events/event.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { Question } from '../../session/questions/session-questions.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import type { StreamMessage } from './exchange/live-response.ts'

export interface TranslationStart {
  readonly provider: string
  readonly model: string
  /** More about the Turn of this client, for its `session:init`. */
  readonly about?: object
  /** What this client sent for each refused attachment of its Turn, in order. */
  readonly sentAttachments?: readonly string[]
  /** Events since the last end of a Turn that were not reported to this client. */
  readonly unreportedEvents?: readonly WholeEvent[]
  /** Those that it knows from an earlier stream. */
  readonly knownEvents?: readonly WholeEvent[]
  readonly resourceOf?: ResourceOf
}

/**
 * Translates what happens in a Session to the events of the API, in order. Every Event of the Log gives one message with its
 * number, as the last one if there are several. Does no I/O.
 */
export class UpdateTranslation {
  #model: { readonly provider: string; readonly model: string }
  readonly #about: object
  readonly #sentAttachments: readonly string[]
  readonly #unreportedEvents: readonly WholeEvent[]
  readonly #resourceOf: ResourceOf
  /** Requests and usage of the Turn whose start was seen, each with the Event after it. */
  #calls: WholeEvent[] | undefined
  /** Since the last end of a Turn, as far as its next end needs it, and without long texts. */
  #recent: WholeEvent[]

  constructor(start: TranslationStart) {
    const {
      provider,
      model,
      about = {},
      sentAttachments = [],
      unreportedEvents = [],
      knownEvents = [],
    } = start
    this.#model = { provider, model }
    this.#about = about
    this.#sentAttachments = sentAttachments
    this.#unreportedEvents = unreportedEvents
    this.#recent = [...knownEvents, ...unreportedEvents]
    this.#resourceOf = start.resourceOf ?? (() => undefined)
  }

  messages(update: SessionUpdate): readonly StreamMessage[] {
    switch (update.kind) {
      case 'event':
        return this.#numberMessages(update)
      case 'ephemeral':
        return [ephemeralMessage(update.ephemeral)]
      case 'rewound':
        this.#recent = this.#recent.filter(({ seq }) => seq <= update.after_seq)
        return [{ event: 'rewound', data: { afterSeq: update.after_seq }, id: update.after_seq }]
      case 'failed':
        return [{ event: 'stream:error', data: errorData(update.error) }]
      default:
        return update satisfies never
    }
  }

  #numberMessages({ raw, event }: SessionUpdate & { kind: 'event' }): readonly StreamMessage[] {
    const { seq, type, ts, data, turn_id } = raw
    const own = definedFields({ turnId: turn_id })
    if (event !== undefined) this.#count(event)
    const notices = event === undefined ? [] : eventNotices(event, this.#resourceOf)
    if (event !== undefined && (notices.length > 0 || KEPT.has(event.type)))
      this.#recent.push(withoutTexts(event))
    const known = event === undefined ? [] : this.#eventMessages(event)
    const stored = { event: 'log:event', data: { type, data: event?.data ?? data } }
    // What has its own event is reported by that.
    const all = known.length > 0 ? known : [...notices.map(noticeOf), stored]
    return all.map((message, at) => ({
      event: message.event,
      data: { ...message.data, ...own, ts },
      ...(at === all.length - 1 ? { id: seq } : {}),
    }))
  }

  /** None if the API has no event of its own for it. */
  #eventMessages(event: WholeEvent): readonly StreamMessage[] {
    switch (event.type) {
      case 'session_started':
      case 'session_settings': {
        const { provider = this.#model.provider, model = this.#model.model } = event.data
        this.#model = { provider, model }
        return []
      }
      case 'turn_started':
        this.#calls = []
        return [
          {
            event: 'session:init',
            data: { sessionId: event.session_id, ...this.#model, ...this.#about },
          },
          ...this.#unreportedEvents
            .flatMap((one) => eventNotices(one, this.#resourceOf))
            .map(noticeOf),
        ]
      case 'user_message':
        return this.#messageOf(event.data)
      case 'assistant_message': {
        const { text, resources = [], partial } = event.data
        const isPartial = partial === true ? { partial } : {}
        return [{ event: 'chat:complete', data: { text, resources, ...isPartial } }]
      }
      case 'tool_call': {
        const { call_id: callId, name, arguments: given } = event.data
        return [{ event: 'tool:start', data: { callId, name, arguments: given } }]
      }
      case 'tool_result': {
        const { call_id: callId, name, outcome, output, truncated = false } = event.data
        const isOk = outcome === 'ok'
        return [
          { event: 'tool:result', data: { callId, name, ok: isOk, outcome, output, truncated } },
        ]
      }
      case 'shell_command': {
        const { command_id: commandId, command, folder } = event.data
        const where = definedFields({ folder })
        return [{ event: 'command:start', data: { commandId, command, ...where } }]
      }
      case 'shell_result': {
        const { command_id: commandId, outcome, exit_code, output, truncated = false } = event.data
        const exit = definedFields({ exitCode: exit_code })
        return [
          { event: 'command:result', data: { commandId, outcome, ...exit, output, truncated } },
        ]
      }
      case 'turn_ended':
        return this.#end(event)
      case 'session_fork':
      case 'prompt_surface':
      case 'late_context':
      case 'project_instructions':
      case 'skill_activation':
      case 'skill_context_hydration':
      case 'provider_request':
      case 'provider_usage':
      case 'reasoning':
      case 'command_watched':
      case 'workspace_snapshot':
      case 'plan_updated':
      case 'permission_asked':
      case 'permission_decision':
      case 'resource_ingested':
      case 'resource_view':
      case 'resource_retired':
      case 'resource_dropped':
      case 'resource_quarantined':
      case 'history_compaction':
      case 'compaction_undone':
      case 'files_restored':
      case 'text_pinned':
      case 'text_unpinned':
      case 'log_repaired':
      case 'lock_taken':
      case 'notice':
        return []
      default:
        return event satisfies never
    }
  }

  /** A request is lost in a crash if the Event after it says so. */
  #count(event: WholeEvent): void {
    const isAfterRequest = this.#calls?.at(-1)?.type === 'provider_request'
    if (isAfterRequest || event.type === 'provider_request' || event.type === 'provider_usage')
      this.#calls?.push(withoutTexts(event))
  }

  #end({ data, turn_id }: WholeEvent<'turn_ended'>): readonly StreamMessage[] {
    const recent = this.#recent
    const notices = turnNotices(recent, turn_id ?? '', this.#resourceOf)
    const own = recent.filter((event) => event.turn_id === turn_id)
    // Another Turn is open only around one that writes a summary.
    this.#recent = own.some(isSummary) ? recent.filter((event) => !own.includes(event)) : []
    const cost = turnCost(this.#calls ?? [])
    return [
      ...laterNotices(own).map(noticeOf),
      ...endMessages({ ...data, usage: data.usage_total, notices }, cost),
    ]
  }

  #messageOf(message: WholeEvent<'user_message'>['data']): readonly StreamMessage[] {
    const { text, prompt_mode: promptMode, resources = [], attachment_errors = [], steer } = message
    const { mentions, mention_errors: mentionErrors } = message
    const errors = attachment_errors.map(({ code, name, reason, limit, actual }, at) => {
      const path = this.#sentAttachments[at]
      return {
        ...definedFields({ path }),
        name,
        code,
        reason,
        ...definedFields({ limit, actual }),
      }
    })
    const attached = { event: 'attachments:resolved', data: { resources, errors } }
    const written = {
      event: 'user:message',
      data: {
        text,
        promptMode,
        ...(steer === true ? { steer } : {}),
        ...definedFields({ mentions, mentionErrors }),
      },
    }
    return resources.length + errors.length === 0 ? [written] : [attached, written]
  }
}

/** What the end of a Turn is computed from, besides Events with notices. */
const KEPT: ReadonlySet<WholeEvent['type']> = new Set(['turn_started', 'tool_result', 'turn_ended'])

/** A watcher must not hold the outputs of a long Turn. */
function withoutTexts(event: WholeEvent): WholeEvent {
  if (event.type === 'tool_result') return { ...event, data: { ...event.data, output: '' } }
  if (event.type === 'assistant_message') return { ...event, data: { ...event.data, text: '' } }
  if (event.type !== 'user_message') return event
  const { piped: _, ...data } = event.data
  return { ...event, data: { ...data, text: '' } }
}

function isSummary(event: WholeEvent): boolean {
  return event.type === 'turn_started' && event.data.purpose !== undefined
}

type EndOfTurn = Pick<TurnResult, 'status' | 'usage' | 'notices'> &
  Pick<EventData<'turn_ended'>, 'error' | 'cut' | 'crash_recovered'>

/** The last messages of a Turn; `process:exit` is always the very last. */
export function endMessages(
  { status, usage, error, cut, crash_recovered, notices }: EndOfTurn,
  cost?: number,
): readonly StreamMessage[] {
  const recovered = crash_recovered === true ? { crashRecovered: true } : {}
  const exitMessage = (exitCode: number, more: object = {}) => {
    return { event: 'process:exit', data: { exitCode, ...more, notices } }
  }
  switch (status) {
    case 'completed': {
      const incomplete = definedFields({ cut })
      const data = { usage, costUsd: cost ?? null, ...incomplete }
      return [{ event: 'session:complete', data }, exitMessage(0)]
    }
    case 'interrupted':
      if (error?.kind === 'timeout')
        return [failureMessage(error), exitMessage(124, { interrupted: true })]
      return [exitMessage(130, { interrupted: true, ...recovered })]
    case 'failed':
    case 'refused': {
      const known = error ?? { kind: 'internal', message: 'The Turn failed.', details: {} }
      return [failureMessage(known), exitMessage(1, recovered)]
    }
    default:
      return status satisfies never
  }
}

/** What a Turn waits for: a client that overlooked the question, or cannot answer it, would wait without knowing why. */
export function waitingMessages(open: readonly Question[]): readonly StreamMessage[] {
  return open.map(({ request_id: requestId, call_id: callId, subject, reason }) => {
    const call = definedFields({ callId })
    return { event: 'permission:waiting', data: { requestId, ...call, subject, reason } }
  })
}

/** The end of a stream whose Turn has no end in the Log, because it could not be written. */
export function lostEnd(error: HawserError): readonly StreamMessage[] {
  const exit = { event: 'process:exit', data: { exitCode: 1, notices: [] } }
  return [failureMessage(error), exit]
}

/** Something that a person must know. */
function noticeOf({ code, text }: ResultNotice): StreamMessage {
  return { event: 'session:notice', data: { code, text } }
}

function failureMessage(error: Parameters<typeof errorData>[0]): StreamMessage {
  return { event: 'turn:error', data: { ...errorData(error), fatal: true } }
}

function errorData({
  kind,
  message,
  details,
}: {
  readonly kind: string
  readonly message: string
  readonly details?: object | undefined
}) {
  return { kind, message, details: details ?? {} }
}

function ephemeralMessage(notice: EphemeralEvent): StreamMessage {
  const own = definedFields({ turnId: notice.turn_id })
  const { event, data } = noticeContent(notice)
  return { event, data: { ...data, ...own } }
}

function statusData({ text, retry }: EphemeralData<'status'>) {
  if (retry === undefined) return { text }
  const { attempt, of, delay_ms: delayMs, kind } = retry
  return { text, retry: { attempt, of, delayMs, kind } }
}

function noticeContent(notice: EphemeralEvent): StreamMessage {
  switch (notice.type) {
    case 'text_delta':
      return { event: 'chat:delta', data: { text: notice.data.text } }
    case 'reasoning_delta':
      return { event: 'reasoning:delta', data: { text: notice.data.text } }
    case 'tool_progress': {
      const { call_id: callId, text } = notice.data
      return { event: 'tool:progress', data: { callId, text } }
    }
    case 'status':
      return { event: 'status', data: statusData(notice.data) }
    case 'stream_restarted':
      return { event: 'chat:restart', data: { reason: notice.data.reason } }
    case 'context_pressure':
      return { event: 'context:pressure', data: notice.data }
    case 'permission_requested': {
      const { request_id: requestId, call_id: callId, choices: options, ...rest } = notice.data
      const call = definedFields({ callId })
      return { event: 'permission:request', data: { requestId, ...call, ...rest, options } }
    }
    case 'permission_settled': {
      const { request_id: requestId, call_id: callId, ...rest } = notice.data
      const call = definedFields({ callId })
      return { event: 'permission:settled', data: { requestId, ...call, ...rest } }
    }
    default:
      return notice satisfies never
  }
}
