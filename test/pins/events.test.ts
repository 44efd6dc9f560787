import * as z from 'zod'
import { expect, test } from 'vitest'
import {
  DURABILITY,
  EPHEMERAL_DATA,
  EVENT_DATA,
  EVENT_TYPES,
} from '../../src/model/events/event.ts'

/** The fields of an object schema in order, with `?` after optional ones. */
function fieldsOf(schema: z.ZodObject): string {
  return Object.entries(schema.shape)
    .map(([name, field]) => (z.safeParse(field, undefined).success ? `${name}?` : name))
    .join(' ')
}

function pinOf(schemas: Readonly<Record<string, z.ZodObject>>): Record<string, string> {
  return Object.fromEntries(Object.entries(schemas).map(([type, data]) => [type, fieldsOf(data)]))
}

const EVENT_PIN = {
  session_started:
    'workspace provider model mode permission_mode presenter harness_version tether?',
  session_fork:
    'parent_session_id at_seq at_hash at_offset root_session_id resources? resources_count',
  session_settings: 'model? provider? effort? mode? permission_mode? title?',
  prompt_surface:
    'contract_version layer0_sha256 layer1_sha256 toolset_sha256 skills_sha256 words_sha256? blob params reason',
  turn_started: 'source purpose?',
  user_message:
    'text resources? attachment_errors? prompt_mode presenter_context? piped? mentions? mention_errors? shell? shell_omitted? steer?',
  late_context:
    'workspace folder? branch? mode permission_mode date zone? os? shell? instructions? more_instructions?',
  project_instructions: 'path content_sha256 blob bytes text_bytes truncated? reason',
  skill_activation:
    'name args source path content_sha256 blob body_bytes? filled_bytes? trust activated_by context_sources? allowed_tools?',
  skill_context_hydration:
    'skill activation_event_id context_source_id produced_by permission invoked_by status error? ' +
    'output resource_id? handle? output_sha256 output_bytes truncated? whole_sha256? whole_bytes? ' +
    'invalid_bytes_replaced? ' +
    'duration_ms limitations?',
  provider_request:
    'call_index attempt dialect model contract_version cache_key request_sha256 request_bytes ' +
    'sent_bytes? shared_prefix_bytes prefix_break? projected? transport previous_response_id_used?',
  assistant_message: 'text partial? phase? resources?',
  reasoning: 'dialect model item',
  tool_call: 'call_id name arguments',
  command_watched: 'call_id paths',
  tool_result:
    'call_id name outcome error? output truncated? whole_blob? exit_code? duration_ms resources? path? before_blob? after_blob? redacted_of? diff? moved? runs_later?',
  shell_command: 'command_id command folder?',
  shell_result:
    'command_id outcome error? output truncated? whole_blob? exit_code? duration_ms moved? runs_later?',
  plan_updated: 'entries',
  permission_asked: 'call_id? subject args_sha256 mode',
  permission_decision: 'call_id? subject args_sha256 mode decision scope by rule? reason?',
  resource_ingested: 'descriptor origin',
  resource_view:
    'resource_id handle by reason? pages? lines? region? size? content_sha256? variant? made? same_as? shown_bytes? outcome why? descriptor?',
  resource_retired: 'resource_id why estimate?',
  resource_dropped: 'resource_id by',
  resource_quarantined: 'resource_id dialect provider_error',
  provider_usage:
    'call_index contract_version? transport? usage raw? cost_usd? latency_ms first_token_ms? continuation? pressure stop_reason',
  history_compaction:
    'trigger strategy range? tail elided? tokens_before tokens_after carried? state? limitations? ' +
    'summary?',
  compaction_undone: 'compaction_event_id reason',
  files_restored: 'undone_turn_id files by',
  text_pinned: 'text by',
  text_unpinned: 'event_id text by',
  log_repaired: 'cut_bytes kept_as pieces?',
  lock_taken: 'previous_holder',
  notice: 'code text surface_sha256?',
  turn_ended: 'status error? usage_total crash_recovered? cut?',
}

const NOW = [
  'session_started',
  'session_fork',
  'user_message',
  'provider_request',
  'tool_call',
  'command_watched',
  'shell_command',
  'shell_result',
  'permission_asked',
  'permission_decision',
  'history_compaction',
  'log_repaired',
  'lock_taken',
  'turn_ended',
]

test('the canonical Events and their fields are these, and no other [SH-008]', () => {
  expect(EVENT_TYPES).toEqual(Object.keys(EVENT_PIN))
  expect(pinOf(EVENT_DATA)).toEqual(EVENT_PIN)
})

test('no Event has a field for the bytes of a Resource [SR-039]', () => {
  const fields = Object.values(EVENT_PIN).flatMap((pin) => pin.split(/\?? /))
  expect(fields.filter((field) => /base64|bytes$|^data$|pixels/.test(field))).toEqual([
    // All of them are counts.
    'bytes',
    'text_bytes',
    'body_bytes',
    'filled_bytes',
    'output_bytes',
    'whole_bytes',
    'request_bytes',
    'sent_bytes',
    'shared_prefix_bytes',
    'shown_bytes',
    'cut_bytes',
  ])
})

test('no Event calls a source of context a provider [SH-026]', () => {
  expect(EVENT_PIN.skill_context_hydration).not.toContain('provider')
})

test('the Events that are durable before anyone is notified are these', () => {
  const now = Object.entries(DURABILITY).filter(([, rule]) => rule !== 'soon')
  expect(now.map(([type]) => type)).toEqual(expect.arrayContaining(NOW))
  expect(now).toHaveLength(NOW.length)
})

test('the ephemeral events are these, and none of them is canonical [PC-061]', () => {
  expect(pinOf(EPHEMERAL_DATA)).toEqual({
    text_delta: 'text',
    reasoning_delta: 'text',
    tool_progress: 'call_id text notice?',
    status: 'text',
    stream_restarted: 'reason',
    permission_requested:
      'request_id call_id? subject tool effect paths network? arguments? diff? upload? hydration? reason choices',
    permission_settled: 'request_id call_id? decision scope by reason?',
    context_pressure:
      'tier ratio? input_tokens window_tokens? estimated? trigger? compaction_event_id? next_actions?',
  })
  expect(EPHEMERAL_DATA.context_pressure.shape.tier.options).toEqual([
    'none',
    'advisory',
    'warning',
    'critical',
    'recovery',
  ])
  const canonical: readonly string[] = EVENT_TYPES
  expect(Object.keys(EPHEMERAL_DATA).filter((type) => canonical.includes(type))).toEqual([])
})
