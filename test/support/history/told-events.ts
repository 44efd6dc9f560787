import type { EventDraft, EventType } from '../../../src/model/events/event.ts'
import { sampleDescriptor } from './sample-resources.ts'
import { SAMPLES } from './every-event-data.ts'

/** A case in which a person must be informed about an Event. */
export interface ToldCase {
  readonly code: string
  /** What happened, for readers of the documentation. */
  readonly when: string
  readonly draft: EventDraft
  /** A word that every face must show. */
  readonly mark: string
}

/** An image that an earlier message attached. */
export const KNOWN = sampleDescriptor('@img7', { name: 'harbour.png' })
const { resource_id } = KNOWN
const LINK = {
  ...sampleDescriptor('@link8'),
  kind: 'link',
  name: 'charts',
  not_copied: 'not_found',
} as never
const hydration = SAMPLES.skill_context_hydration
const MENTION = (SAMPLES.user_message.mentions ?? [])[0]

/**
 * The cases by the type of their Event; an empty list means that nothing must be reported. A new type of Event does not compile
 * until it is decided here and in every face.
 */
export const TOLD = {
  notice: [
    {
      code: 'upload_denied',
      when: 'Hawser recorded a notice, here: a rule keeps an attachment from the model',
      draft: notice('upload_denied', 'Not sent to the model: @img7: denied by the setting.'),
      mark: 'denied by the setting',
    },
    {
      code: 'context_critical',
      when: "the model's context window is nearly full",
      draft: notice('context_critical', 'The context window is almost full (91 %).'),
      mark: 'almost full',
    },
  ],
  user_message: [
    {
      code: 'attachment_refused',
      when: 'an attachment of the message was refused',
      draft: message({
        attachment_errors: [
          { name: 'plan.zip', code: 'unsupported_type', reason: 'it is an archive' },
        ],
      }),
      mark: 'plan.zip',
    },
    {
      code: 'mention_refused',
      when: 'a mentioned file was not included',
      draft: message({
        mention_errors: [{ path: 'tides.txt', code: 'not_found', reason: 'it does not exist' }],
      }),
      mark: 'tides.txt',
    },
    {
      code: 'mention_truncated',
      when: 'a mentioned file was included only in part',
      draft: message({
        mentions: [{ ...MENTION, path: 'moorings.txt', truncated: true, to_line: 7, lines: 99 }],
      }),
      mark: 'moorings.txt',
    },
    {
      code: 'link_not_copied',
      when: 'a linked local file was not copied',
      draft: message({ resources: [LINK] }),
      mark: 'charts',
    },
  ],
  skill_context_hydration: [
    {
      code: 'hydration_denied',
      when: 'context of a Skill was denied',
      draft: of('skill_context_hydration', {
        ...hydration,
        status: 'denied',
        context_source_id: 'tide-table',
        error: { kind: 'hydration_denied', message: 'The mode is read-only.' },
      }),
      mark: 'tide-table',
    },
    {
      code: 'hydration_failed',
      when: 'context of a Skill could not be fetched',
      draft: of('skill_context_hydration', {
        ...hydration,
        status: 'failed',
        context_source_id: 'tide-table',
        error: { kind: 'hydration_failed', message: 'The command failed.' },
      }),
      mark: 'tide-table',
    },
    {
      code: 'hydration_incomplete',
      when: 'context of a Skill was shortened, or has limitations',
      draft: of('skill_context_hydration', {
        ...hydration,
        status: 'ok',
        context_source_id: 'tide-table',
        limitations: ['Only the last day.'],
      }),
      mark: 'Only the last day.',
    },
  ],
  tool_result: [
    {
      code: 'call_denied',
      when: 'a tool call was denied',
      draft: of('tool_result', {
        call_id: 'call_1',
        name: 'bash',
        outcome: 'denied',
        output: 'The mode is read-only.',
        duration_ms: 0,
        error: { kind: 'permission_denied', message: 'The mode is read-only.' },
      }),
      mark: 'read-only',
    },
  ],
  resource_view: [
    {
      code: 'resource_not_shown',
      when: 'the model asked to see a Resource again and could not',
      draft: of('resource_view', {
        resource_id,
        handle: KNOWN.handle,
        by: 'model',
        outcome: 'over_budget',
      }),
      mark: 'does not fit',
    },
  ],
  resource_retired: [
    {
      code: 'resource_retired',
      when: 'a Resource is no longer sent',
      draft: of('resource_retired', { resource_id, why: 'model_limit' }),
      mark: 'limit of the model',
    },
  ],
  resource_dropped: [
    {
      code: 'resource_dropped',
      when: 'a Resource was dropped',
      draft: of('resource_dropped', { resource_id, by: 'model' }),
      mark: 'dropped',
    },
  ],
  history_compaction: [
    {
      code: 'compacted',
      when: 'Hawser compacted the Session by itself',
      draft: of('history_compaction', {
        ...SAMPLES.history_compaction,
        trigger: 'critical_pressure_preflight',
      }),
      mark: 'ompacted',
    },
  ],
  compaction_undone: [
    {
      code: 'compaction_undone',
      when: 'a compaction was undone',
      draft: of('compaction_undone', SAMPLES.compaction_undone),
      mark: 'compaction was undone',
    },
  ],
  files_restored: [
    {
      code: 'files_restored',
      when: 'files were restored',
      draft: of('files_restored', SAMPLES.files_restored),
      mark: 'a.ts',
    },
  ],
  log_repaired: [
    {
      code: 'log_repaired',
      when: 'the Log was repaired after a crash',
      draft: of('log_repaired', SAMPLES.log_repaired),
      mark: 'Recovered from a crash',
    },
  ],
  turn_ended: [
    {
      code: 'answer_incomplete',
      when: 'the answer was cut off',
      draft: of('turn_ended', {
        status: 'completed',
        usage_total: SAMPLES.turn_ended.usage_total,
        cut: { reason: 'output_limit', stop_reason: 'max_tokens', lost_calls: 0 },
      }),
      mark: 'incomplete',
    },
  ],
  session_started: [],
  session_fork: [],
  session_settings: [],
  prompt_surface: [],
  turn_started: [],
  late_context: [],
  project_instructions: [],
  skill_activation: [],
  provider_request: [],
  assistant_message: [],
  reasoning: [],
  tool_call: [],
  command_watched: [],
  shell_command: [],
  shell_result: [],
  plan_updated: [],
  permission_asked: [],
  permission_decision: [],
  resource_ingested: [],
  resource_quarantined: [],
  provider_usage: [],
  text_pinned: [],
  text_unpinned: [],
  lock_taken: [],
} as const satisfies Record<EventType, readonly ToldCase[]>

/** What a Turn as a whole must tell. */
export const TOLD_AT_END: ToldCase = {
  code: 'runs_later',
  when: 'a changed file runs later, for example in CI',
  draft: of('tool_result', {
    call_id: 'call_1',
    name: 'bash',
    outcome: 'ok',
    output: '',
    duration_ms: 1,
    runs_later: ['.github/workflows/tides.yml'],
  }),
  mark: 'tides.yml',
}

function of<T extends EventType>(type: T, data: EventDraft<T>['data']): EventDraft {
  // The compiler cannot follow T that far.
  return { type, data } as unknown as EventDraft
}

function notice(code: string, text: string): EventDraft {
  return of('notice', { code, text })
}

function message(more: object): EventDraft {
  return of('user_message', { text: 'Look.', prompt_mode: 'blocks', ...more } as never)
}
