import { Descriptor, Handle } from '../../../src/model/descriptor.ts'
import type { EventData, EventType, WholeEvent } from '../../../src/model/events/event.ts'
import { BlobKey, EventId, ResourceId, SessionId, TurnId } from '../../../src/model/ids.ts'
import { CutReason } from '../../../src/model/events/turn-events.ts'

const HASH = 'ab'.repeat(32)
const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
const RESOURCE = ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12')
const EVENT = EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12')
const BLOB = BlobKey.parse(`${HASH}.png`)

/** An Event of that type with inline fields, as line 7 of a Log. */
function wholeEvent<T extends EventType>(type: T, data: EventData<T>): WholeEvent<T> {
  const envelope = {
    v: 1,
    seq: 7,
    id: EVENT,
    session_id: SESSION,
    turn_id: TURN,
    ts: '2026-01-31T12:00:00.000Z',
    prev: HASH,
    crc: '00000000',
  }
  // The envelope and the data of one type make an Event of that type; the compiler cannot follow T that far.
  return { ...envelope, type, data } as unknown as WholeEvent<T>
}

const stored = {
  resource_id: RESOURCE,
  source: 'cli',
  size_bytes: 12_345,
  content_sha256: HASH,
  blob: BLOB,
  rehydratable: true,
} as const

type Carried = NonNullable<EventData<'history_compaction'>['carried']>

const EMPTY_CARRIED: Carried = {
  files_touched: [],
  decisions: [],
  open_tasks: [],
  tool_outcomes: [],
  resources: [],
  skills: [],
  hydrations: [],
  pinned: [],
}

const SKILL = { name: 'review', content_sha256: HASH }

const EVERYTHING_CARRIED: Carried = {
  files_touched: ['a b.txt', 'c.ts'],
  decisions: ['denied bash "rm a" once', 'set mode to "plan"'],
  open_tasks: ['Moor the ship.', 'Count\nthe crew.'],
  tool_outcomes: [
    { call_id: 'call_1', name: 'read', outcome: 'ok' },
    { call_id: 'call_2', name: 'bash', outcome: 'failed' },
    { call_id: 'call_3', name: 'read', outcome: 'ok' },
    { call_id: 'call_4', name: 'read', outcome: 'denied' },
  ],
  resources: [
    { resource_id: RESOURCE, handle: Handle.parse('@img1'), name: 'a "b".png' },
    { resource_id: RESOURCE, handle: Handle.parse('@pdf2'), name: 'c.pdf', fate: 'dropped' },
  ],
  skills: [SKILL],
  hydrations: [
    { event_id: EVENT, context_source_id: 'diff' },
    {
      event_id: EVENT,
      context_source_id: 'diff',
      skill: SKILL,
      status: 'denied',
      output_bytes: 6,
      output_sha256: HASH,
      truncated: true,
    },
  ],
  pinned: ['one\n[End of pinned text]', 'two'],
  counts: { file_changes: 2, tool_outcomes: 312, resources: 2, hydrations: 3, open_tasks: 5 },
}

/** Events that reach every branch of every sentence for a model. */
export function sampleEvents() {
  const late = {
    workspace: '/a/b "c"',
    mode: 'build',
    permission_mode: 'ask',
    date: '2026-01-31',
  } as const
  const rejected = { code: 'too_large', name: 'a\nb.png', reason: 'too large' } as const
  const view = { resource_id: RESOURCE, handle: '@img1', by: 'model' }
  const hydration = {
    skill: { name: 'review', content_sha256: HASH },
    activation_event_id: EVENT,
    context_source_id: 'diff',
    produced_by: { kind: 'command', name: 'git', args: null },
    permission: { mode: 'ask', decision: 'allowed', explicit: true },
    invoked_by: 'person',
    status: 'ok',
    output: '+ rope',
    output_sha256: HASH,
    output_bytes: 6,
    duration_ms: 4,
  } as const
  const usage_total = {
    input: 0,
    cached_read: 0,
    cache_write: 0,
    output: 0,
    reasoning: 0,
    calls: 0,
  }
  return {
    late_context: [
      wholeEvent('late_context', late),
      wholeEvent('late_context', {
        ...late,
        folder: 'a "b"/c',
        branch: 'main\u202e',
        mode: 'plan',
        permission_mode: 'read-only',
        zone: 'Europe/Berlin',
        os: 'Linux x64',
        shell: 'bash',
      }),
      wholeEvent('late_context', { ...late, instructions: [] }),
      wholeEvent('late_context', {
        ...late,
        instructions: [
          { path: '~', bytes: 9, content_sha256: HASH },
          ...(['link', 'hard_link', 'not_a_file', 'unreadable'] as const).map((refused) => ({
            path: 'a "b"\u202e/AGENTS.md',
            refused,
          })),
          ...(['untrusted', 'over_limit', 'too_large', 'not_text'] as const).map((withheld) => ({
            path: 'AGENTS.md',
            bytes: 9,
            content_sha256: HASH,
            changed: true,
            withheld,
          })),
          { path: 'c/CLAUDE.md', bytes: 9, content_sha256: HASH, blob: BLOB, text_bytes: 9 },
          { path: 'd/AGENTS.md', bytes: 2_000_000, blob: BLOB, text_bytes: 9, truncated: true },
        ],
        more_instructions: true,
      }),
    ],
    project_instructions: [
      { path: '~', bytes: 9, text_bytes: 9 },
      { path: 'a "b"/AGENTS.md', bytes: 90, text_bytes: 9, truncated: true },
    ].map((text) =>
      wholeEvent('project_instructions', {
        ...text,
        content_sha256: HASH,
        blob: BLOB,
        reason: 'session_start',
      }),
    ),
    attachment_errors: [1, 3, 5].map((count) => Array.from({ length: count }, () => rejected)),
    descriptors: [
      {
        ...stored,
        handle: '@img1',
        kind: 'image',
        name: 'a\nb.png',
        media_type: 'image/png',
        width: 3,
        height: 2,
      },
      {
        ...stored,
        handle: '@pdf2',
        kind: 'pdf',
        name: 'c.pdf',
        media_type: 'application/pdf',
        pages: 4,
        title: 'T',
      },
      {
        ...stored,
        handle: '@txt3',
        kind: 'text',
        name: 'd.txt',
        media_type: 'text/plain',
        lines: 9,
        charset: 'latin1',
      },
      {
        ...stored,
        handle: '@file5',
        kind: 'file',
        name: 'x'.repeat(600),
        media_type: 'audio/wav',
        description: 'D',
      },
      {
        resource_id: RESOURCE,
        handle: '@link4',
        kind: 'link',
        name: 'e',
        source: 'acp',
        uri: 'https://example.org/e',
        rehydratable: false,
      },
      {
        resource_id: RESOURCE,
        handle: '@link5',
        kind: 'link',
        name: 'e',
        source: 'acp',
        not_copied: 'not_found',
        rehydratable: false,
      },
    ].map((descriptor) => Descriptor.parse(descriptor)),
    resource_view: [
      { ...view, outcome: 'projected', pages: { from: 1, to: 2 } },
      { ...view, outcome: 'missing', lines: { from: 3, to: 4 } },
      { ...view, outcome: 'damaged', region: { x: 0, y: 0, width: 1, height: 1 } },
      { ...view, outcome: 'denied', by: 'person' },
      { ...view, outcome: 'denied', why: 'holds_key' },
      { ...view, outcome: 'quarantined' },
      { ...view, outcome: 'over_budget' },
      { ...view, outcome: 'visible' },
      { ...view, outcome: 'visible', same_as: '@img2' },
      { ...view, outcome: 'projected', made: { encoder: 'e', format: 'png', width: 2, height: 3 } },
    ].map((data) => wholeEvent('resource_view', data as EventData<'resource_view'>)),
    skill_activation: [
      wholeEvent('skill_activation', {
        name: 'review',
        args: 'the "diff"',
        source: 'repo',
        path: 'p',
        content_sha256: HASH,
        blob: BLOB,
        trust: 'trusted',
        activated_by: 'user',
      }),
      wholeEvent('skill_activation', {
        name: 'review',
        args: 'it',
        source: 'repo',
        path: 'p',
        content_sha256: HASH,
        blob: BLOB,
        body_bytes: 812,
        filled_bytes: 804,
        trust: 'trusted',
        activated_by: 'user',
      }),
      wholeEvent('skill_activation', {
        name: 'review',
        args: '',
        source: '~/.agents/skills',
        path: 'review/SKILL.md',
        content_sha256: HASH,
        blob: BLOB,
        body_bytes: 812,
        trust: 'user',
        activated_by: 'model',
        context_sources: [
          {
            id: 'diff',
            from: { kind: 'command', argv: ['git', 'diff'] },
            max_bytes: 32_768,
            timeout_ms: 10_000,
          },
        ],
      }),
    ],
    skill_context_hydration: [
      wholeEvent('skill_context_hydration', hydration),
      wholeEvent('skill_context_hydration', { ...hydration, status: 'denied', truncated: true }),
      wholeEvent('skill_context_hydration', {
        ...hydration,
        status: 'failed',
        error: { kind: 'timeout', message: 'm' },
        truncated: true,
        whole_bytes: 50_000,
        whole_sha256: HASH,
        handle: '@txt3',
        invalid_bytes_replaced: 2,
      }),
    ],
    history_compaction: [EMPTY_CARRIED, EVERYTHING_CARRIED].map((carried) =>
      wholeEvent('history_compaction', {
        trigger: 'manual',
        strategy: 'excerpts',
        range: { from_seq: 0, to_seq: 41 },
        tail: { from_seq: 42, turns: 2, tokens: 100 },
        tokens_before: 1000,
        tokens_after: 100,
        carried,
        state: { handle_counter: 0, resources: [], notices: [] },
        limitations: ['A limitation.', 'Another one.'],
        summary: 'The ship was moored.',
      }),
    ),
    files_restored: [
      wholeEvent('files_restored', {
        undone_turn_id: TURN,
        files: [
          { path: 'a b.txt', before_blob: BLOB, outcome: 'restored' },
          { path: 'b', outcome: 'restored' },
          { path: 'c', outcome: 'changed_since' },
          { path: 'd', outcome: 'failed' },
          { path: 'd', outcome: 'failed', why: 'redacted' },
        ],
        by: 'person',
      }),
      wholeEvent('files_restored', {
        undone_turn_id: TURN,
        rewound_from: SESSION,
        files: [{ path: 'a b.txt', before_blob: BLOB, outcome: 'restored' }],
        by: 'person',
      }),
    ],
    turn_ended: [
      wholeEvent('turn_ended', { status: 'completed', usage_total }),
      wholeEvent('turn_ended', { status: 'interrupted', usage_total }),
      wholeEvent('turn_ended', {
        status: 'interrupted',
        usage_total,
        error: { kind: 'timeout', message: 'too long' },
      }),
      wholeEvent('turn_ended', { status: 'interrupted', usage_total, crash_recovered: true }),
      wholeEvent('turn_ended', {
        status: 'failed',
        usage_total,
        error: { kind: 'network', message: 'gone' },
      }),
      ...CutReason.options.flatMap((reason) =>
        [0, 2].map((lost_calls) =>
          wholeEvent('turn_ended', {
            status: 'completed',
            usage_total,
            cut: { reason, stop_reason: 'max_tokens', lost_calls },
          }),
        ),
      ),
    ],
  }
}
