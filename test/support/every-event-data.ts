import { Descriptor, Handle } from '../../src/model/descriptor.ts'
import { EventEnvelope, readEvent } from '../../src/model/events/event.ts'
import type { EventData, EventType } from '../../src/model/events/event.ts'
import { BlobKey, EventId, ResourceId, SessionId, TurnId } from '../../src/model/ids.ts'

const ulid = '01jaaaaaaaaaaaaaaaaaaaaaaa'
const sha = 'a'.repeat(64)
const session = SessionId.parse(`ses_${ulid}`)
const turn = TurnId.parse(`trn_${ulid}`)
const event = EventId.parse(`evt_${ulid}`)
export const resource = ResourceId.parse(`res_${ulid}`)
const blob = BlobKey.parse(`${sha}.txt`)
const handle = Handle.parse('@img1')
const error = { kind: 'timeout', message: 'It took too long.' } as const
const usage = { input: 9, cached_read: 4, cache_write: 0, output: 2, reasoning: 0 }
const descriptor = Descriptor.parse({
  resource_id: resource,
  handle,
  kind: 'image',
  name: 'a.png',
  media_type: 'image/png',
  size_bytes: 68,
  content_sha256: sha,
  blob: `${sha}.png`,
  source: 'cli',
  rehydratable: true,
})
const surface = {
  contract_version: 'hw1',
  layer0_sha256: sha,
  layer1_sha256: sha,
  toolset_sha256: sha,
  skills_sha256: sha,
  words_sha256: sha,
  blob,
  params: { replay: 'window', late_role: 'developer', tool_choice: 'auto', limits: { calls: 1 } },
  reason: 'session_start',
} as const
const late = { workspace: '/w', mode: 'build', permission_mode: 'ask', date: '2026-01-31' } as const

/** The data of one Event of each type, with every field, for tests of all types. */
export const SAMPLES: { readonly [T in EventType]: EventData<T> } = {
  session_started: {
    workspace: '/w',
    provider: 'rehearsal',
    model: 'm',
    mode: 'plan',
    permission_mode: 'read-only',
    presenter: 'cli',
    harness_version: '0.1.0',
    tether: { instance: 'inst_1', channel: 'host', id: 'default' },
  },
  session_fork: {
    parent_session_id: session,
    at_seq: 3,
    at_hash: sha,
    at_offset: 900,
    root_session_id: session,
    resources: [{ parent_resource_id: resource, resource_id: resource }],
    resources_count: 1,
  },
  session_settings: {
    model: 'm',
    provider: 'openai',
    effort: 'high',
    mode: 'build',
    permission_mode: 'auto',
    title: 't',
  },
  prompt_surface: surface,
  turn_started: {
    source: {
      presenter: 'tether',
      channel: 'web',
      user: { id: '1', name: 'Al' },
      message_key: 'web:42',
    },
    purpose: 'summary',
  },
  user_message: {
    text: 'hi',
    resources: [descriptor],
    attachment_errors: [
      { code: 'empty', name: 'b.txt', reason: 'it is empty', limit: 1, actual: 0 },
    ],
    prompt_mode: 'blocks',
    presenter_context: { open_file: 'a.ts' },
    steer: true,
    piped: 'a\n',
    mentions: [
      {
        path: 'src/a.ts',
        kind: 'file',
        content_sha256: sha,
        blob,
        bytes: 2,
        from_line: 1,
        to_line: 1,
        lines: 2,
        size_bytes: 4,
        charset: 'utf-16le',
        truncated: true,
      },
    ],
    mention_errors: [{ path: 'b.bin', code: 'unsupported_type', reason: 'it is binary data' }],
    shell: [
      {
        command: 'ls',
        folder: 'src',
        outcome: 'failed',
        exit_code: 1,
        output: 'a\n',
        truncated: true,
      },
    ],
    shell_omitted: 1,
  },
  late_context: {
    ...late,
    branch: 'main',
    folder: 'src',
    zone: 'Europe/Berlin',
    os: 'Linux x64',
    shell: 'bash',
  },
  skill_activation: {
    name: 's',
    args: '',
    source: 'user',
    path: 's/SKILL.md',
    content_sha256: sha,
    blob,
    body_bytes: 12,
    trust: 'trusted',
    activated_by: 'user',
    context_sources: [
      {
        id: 'diff',
        from: { kind: 'command', argv: ['git', 'diff'] },
        max_bytes: 1,
        timeout_ms: 2,
      },
    ],
    allowed_tools: ['read'],
  },
  skill_context_hydration: {
    skill: { name: 's', content_sha256: sha },
    activation_event_id: event,
    context_source_id: 'diff',
    produced_by: { kind: 'command', name: 'git', args: ['diff'] },
    permission: { mode: 'ask', decision: 'allowed', explicit: true },
    invoked_by: 'person',
    status: 'failed',
    error,
    output: '',
    resource_id: resource,
    handle: '@txt1',
    output_sha256: sha,
    output_bytes: 0,
    truncated: true,
    whole_sha256: sha,
    whole_bytes: 9,
    invalid_bytes_replaced: 2,
    duration_ms: 1.5,
    limitations: ['cut'],
  },
  provider_request: {
    call_index: 0,
    attempt: 0,
    dialect: 'messages',
    model: 'm',
    contract_version: 'hw1',
    cache_key: 'hw1:m_0',
    request_sha256: sha,
    request_bytes: 10,
    sent_bytes: 5,
    shared_prefix_bytes: 5,
    prefix_break: { at: 5, cause: 'undo' },
    projected: [
      { resource_id: resource, content_sha256: sha, variant: blob, bytes: 68, lifetime: 'turn' },
    ],
    transport: 'websocket',
    previous_response_id_used: true,
  },
  assistant_message: { text: 'ok', partial: true, phase: 'final_answer', resources: [descriptor] },
  reasoning: { dialect: 'responses', model: 'm', item: null },
  tool_call: { call_id: 'c', name: 'read', arguments: '{"path":' },
  command_watched: {
    call_id: 'c',
    paths: [
      { path: '.git/config', kind: 'file', id: '1:2' },
      { path: 'sub/.git', kind: 'symlink', id: '1:3', target: '../g', stamp: '4:5' },
    ],
  },
  tool_result: {
    call_id: 'c',
    name: 'write',
    outcome: 'failed',
    error,
    output: '',
    truncated: true,
    whole_blob: blob,
    exit_code: 1,
    duration_ms: 0,
    resources: [descriptor],
    path: 'notes/a.txt',
    before_blob: blob,
    after_blob: blob,
    redacted_of: { before: sha, after: sha },
    diff: '--- a/notes/a.txt\n+++ b/notes/a.txt\n@@ -1 +1 @@\n-a\n+b\n',
    moved: ['.envrc'],
    runs_later: ['.github/workflows/ci.yml'],
  },
  shell_command: { command_id: 'cmd', command: 'npm test', folder: 'src' },
  shell_result: {
    command_id: 'cmd',
    outcome: 'failed',
    error,
    output: 'a\n',
    truncated: true,
    whole_blob: blob,
    exit_code: 1,
    duration_ms: 0,
    moved: ['.envrc'],
    runs_later: ['.github/workflows/ci.yml'],
  },
  plan_updated: { entries: [{ content: 'x', status: 'pending', priority: 'low' }] },
  permission_asked: { call_id: 'c', subject: 'bash', args_sha256: sha, mode: 'ask' },
  permission_decision: {
    call_id: 'c',
    subject: 'bash',
    args_sha256: sha,
    mode: 'ask',
    decision: 'denied',
    scope: 'once',
    by: 'nobody',
    rule: { kind: 'prefix', answer: 'allow', words: ['npm', 'test'] },
    reason: 'not now',
  },
  resource_ingested: { descriptor, origin: 'egress' },
  resource_view: {
    resource_id: resource,
    handle,
    by: 'model',
    reason: 'closer',
    pages: { from: 1, to: 2 },
    lines: { from: 1, to: 9 },
    region: { x: 0, y: 0, width: 4, height: 4 },
    size: { width: 2, height: 2 },
    content_sha256: sha,
    variant: blob,
    made: { encoder: 'sharp 0.35.5', format: 'jpeg', quality: 75, width: 4, height: 4 },
    same_as: handle,
    shown_bytes: 7,
    outcome: 'projected',
    why: 'holds_key',
    descriptor,
  },
  resource_retired: { resource_id: resource, why: 'turn_over', estimate: { keep_usd: 0.2 } },
  resource_dropped: { resource_id: resource, by: 'person' },
  resource_quarantined: {
    resource_id: resource,
    dialect: 'chat',
    provider_error: { message: 'no', status: 400, code: 'bad_image' },
  },
  provider_usage: {
    call_index: 0,
    contract_version: 'hw1',
    transport: 'websocket',
    usage,
    raw: { tier: 'x' },
    cost_usd: 0.01,
    latency_ms: 900,
    first_token_ms: 300,
    continuation: { used: false, reset_reason: 'model_changed' },
    pressure: { tier: 'warning', ratio: 0.81, window_tokens: 1000, notice: true },
    stop_reason: 'end',
  },
  history_compaction: {
    trigger: 'manual',
    strategy: 'deterministic',
    range: { from_seq: 0, to_seq: 9 },
    tail: { from_seq: 10, turns: 2, tokens: 50 },
    elided: { before_seq: 20, over_bytes: 4096 },
    tokens_before: 900,
    tokens_after: 100,
    carried: {
      files_touched: ['a.ts'],
      decisions: ['d'],
      open_tasks: ['t'],
      tool_outcomes: [{ call_id: 'c', name: 'bash', outcome: 'ok' }],
      resources: [{ resource_id: resource, handle, name: 'a.png' }],
      skills: [{ name: 's', content_sha256: sha }],
      hydrations: [{ event_id: event, context_source_id: 'diff' }],
      pinned: ['p'],
    },
    state: {
      handle_counter: 1,
      resources: [{ descriptor, seq: 3, turn_id: turn, by: 'person', fate: 'denied' }],
      resources_count: 1,
      turns: 1,
      provider: 'rehearsal',
      surface,
      late_context: late,
      notices: ['rehearsal'],
      message_keys: { newest: ['a'.repeat(16)], filter: '' },
    },
    limitations: ['lossy'],
    summary: 'so far',
  },
  compaction_undone: { compaction_event_id: event, reason: 'asked' },
  files_restored: {
    undone_turn_id: turn,
    files: [{ path: 'a.ts', before_blob: blob, after_blob: blob, outcome: 'restored' }],
    by: 'person',
  },
  text_pinned: { text: 'keep', by: 'person' },
  log_repaired: { cut_bytes: 7, kept_as: 'x.torn-1', pieces: ['x.torn-1'] },
  lock_taken: { previous_holder: { pid: 1, program: 'hawser run', since: '2026-01-31' } },
  notice: { code: 'surface_changed', text: 'newer', surface_sha256: sha },
  turn_ended: {
    status: 'failed',
    error,
    usage_total: { ...usage, calls: 1, cost_usd: 0.01 },
    crash_recovered: true,
    cut: { reason: 'output_limit', stop_reason: 'max_tokens', lost_calls: 1 },
  },
}

/** Parses an Event with this data, like a line of a Log. */
export function read(type: string, data: object) {
  const line = { v: 1, seq: 0, id: event, session_id: session, type, data, prev: null }
  return readEvent(
    EventEnvelope.parse({ ...line, ts: '2026-01-31T12:00:00.000Z', crc: '00000000' }),
  )
}

/** The sample without the field `without`, and with `others` added. */
export function withoutField(type: EventType, without: string, others: object = {}): object {
  const rest = Object.entries(SAMPLES[type]).filter(([name]) => name !== without)
  return { ...Object.fromEntries(rest), ...others }
}
