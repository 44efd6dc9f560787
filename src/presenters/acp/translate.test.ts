import { expect, test } from 'vitest'
import type {
  EphemeralData,
  EphemeralType,
  EventData,
  EventType,
} from '../../model/events/event.ts'
import { SessionId, TurnId } from '../../model/ids.ts'
import type { SessionUpdate } from '../../session/watch/session-stream.ts'
import { EditorTranslation, type UpdateFacts } from './translate.ts'

const SESSION = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')
const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')
const NO_USAGE = { input: 0, cached_read: 0, cache_write: 0, output: 0, reasoning: 0, calls: 0 }

function event<T extends EventType>(type: T, data: EventData<T>): SessionUpdate {
  const line = {
    v: 1,
    seq: 0,
    id: 'evt_01kg8m2q3r4s5t6v7w8x9y0z12',
    session_id: SESSION,
    turn_id: TURN,
  }
  const raw = { ...line, ts: '2026-01-31T12:00:00.000Z', type, data, prev: null, crc: '00000000' }
  return { kind: 'event', raw, event: raw } as unknown as SessionUpdate
}

function live<T extends EphemeralType>(type: T, data: EphemeralData<T>): SessionUpdate {
  return {
    kind: 'ephemeral',
    ephemeral: { type, session_id: SESSION, turn_id: TURN, data },
  } as SessionUpdate
}

function translation(offers = { notices: false, compaction: false }) {
  const all = new EditorTranslation({ session: SESSION, workspace: '/w', offers, fromStart: true })
  return (update: SessionUpdate, facts?: UpdateFacts) => all.updates(update, facts)
}

const STARTED = event('turn_started', { source: { presenter: 'acp' } })
const REQUEST = event('provider_request', {} as EventData<'provider_request'>)
const delta = (text: string) => live('text_delta', { text })
const answer = (text: string) => event('assistant_message', { text })

function texts(updates: readonly (readonly object[])[]) {
  return updates
    .flat()
    .map((one) => ('content' in one ? (one.content as { text: string }).text : one))
}

test.each([
  ['streamed', [delta('A'), delta('B'), answer('AB')], ['A', 'B']],
  ['streamed in part', [delta('A'), answer('AB')], ['A', 'B']],
  ['not streamed', [answer('AB')], ['AB']],
  ['of two texts', [delta('ABC'), answer('AB'), answer('C')], ['ABC']],
  ['streamed with a gap', [delta('A'), delta('C'), answer('ABC')], ['A', 'C', '\n\nABC']],
])('an answer that was %s is sent completely', (_how, updates, expected) => {
  const translate = translation()
  translate(STARTED)
  translate(REQUEST)
  expect(texts(updates.map((one) => translate(one)))).toEqual(expected)
})

test('a message of Hawser after text of the model is a paragraph of its own', () => {
  const translate = translation()
  const ended = event('turn_ended', {
    status: 'failed',
    usage_total: NO_USAGE,
    error: { kind: 'network', message: 'No way.' },
  })
  const call = event('tool_call', { call_id: 'c1', name: 'bash', arguments: '{}' })
  const updates = [STARTED, REQUEST, delta('A'), delta('B'), ended].map((one) => translate(one))
  expect(texts(updates)).toEqual(['A', 'B', '\n\nThe Turn failed: No way.'])
  translate(call)
  expect(texts([translate(ended)])).toEqual(['The Turn failed: No way.'])
})

test('live and replayed answers have the same ids', () => {
  const idsOf = (updates: readonly SessionUpdate[]) => {
    const translate = translation()
    const all = updates.flatMap((one) => translate(one, { past: true }))
    return [...new Set(all.map((one) => ('messageId' in one ? one.messageId : undefined)))]
  }
  const replayed = [STARTED, REQUEST, answer('A'), REQUEST, answer('B')]
  const streamed = [STARTED, REQUEST, delta('A'), answer('A'), REQUEST, delta('B'), answer('B')]
  expect(idsOf(streamed)).toEqual(idsOf(replayed))
  expect(idsOf(replayed)).toEqual([`${TURN}:answer:1`, `${TURN}:answer:2`])
})

test('a person sees what they did not send, and never bytes', () => {
  const descriptor = {
    resource_id: 'res_01kg8m2q3r4s5t6v7w8x9y0z12',
    handle: '@img1',
    kind: 'image',
    name: 'sea wall.png',
    source: 'acp',
    media_type: 'image/png',
    size_bytes: 3,
    content_sha256: 'a'.repeat(64),
    blob: `${'a'.repeat(64)}.png`,
    rehydratable: true,
  }
  const message = event('user_message', {
    text: 'Look.',
    prompt_mode: 'blocks',
    resources: [descriptor],
  } as unknown as EventData<'user_message'>)
  expect(translation()(message, { own: true })).toEqual([])
  expect(translation()(message)).toMatchObject([
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Look.' } },
    {
      sessionUpdate: 'user_message_chunk',
      content: {
        type: 'resource_link',
        uri: `hawser://${SESSION}/img1/sea%20wall.png`,
        mimeType: 'image/png',
        size: 3,
      },
    },
  ])
})

test('a refused attachment is reported as a notice, or as a message', () => {
  const errors = [{ code: 'empty', name: 'a.png', reason: 'it is empty' }] as const
  const message = event('user_message', {
    text: 'Look.',
    prompt_mode: 'string',
    attachment_errors: [...errors],
  })
  expect(translation({ notices: true, compaction: false })(message, { own: true })).toEqual([
    { sessionUpdate: 'notice', severity: 'warning', title: 'a.png was not attached: it is empty.' },
  ])
  expect(translation()(message, { own: true })).toMatchObject([
    { sessionUpdate: 'agent_message_chunk' },
  ])
})

test('the output of a running call is shown as it grows, and its result replaces it', () => {
  const translate = translation()
  const call = { call_id: 'c1', name: 'bash', arguments: '{"command":"ls\\n-la"}' }
  expect(translate(event('tool_call', call))).toMatchObject([
    { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'bash ls', kind: 'execute' },
  ])
  translate(live('tool_progress', { call_id: 'c1', text: 'a\n' }))
  const [grown] = translate(live('tool_progress', { call_id: 'c1', text: '```b' }))
  expect(grown).toMatchObject({ content: [{ content: { text: '````\na\n```b\n````' } }] })
  const result = {
    call_id: 'c1',
    name: 'bash',
    outcome: 'failed',
    output: 'x',
    duration_ms: 1,
  } as const
  expect(translate(event('tool_result', result))).toMatchObject([
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' },
  ])
})

test('a change of a file is a diff', () => {
  const result = {
    call_id: 'c1',
    name: 'write',
    outcome: 'ok',
    output: 'Created a.ts',
    duration_ms: 1,
    path: 'src/a.ts',
  } as const
  const change = { oldText: null, newText: 'let a\n' }
  expect(translation()(event('tool_result', result), { change })).toMatchObject([
    { content: [{ type: 'diff', path: '/w/src/a.ts', oldText: null, newText: 'let a\n' }] },
  ])
})

test.each([
  ['a crash', { status: 'interrupted', crash_recovered: true }, 'cut off by a crash'],
  ['a failure', { status: 'failed', error: { kind: 'network', message: 'No way.' } }, 'No way.'],
  [
    'a cut',
    { status: 'completed', cut: { reason: 'output_limit', stop_reason: 'length', lost_calls: 0 } },
    'incomplete',
  ],
] as const)('the editor shows %s', (_what, end, words) => {
  const ended = event('turn_ended', { usage_total: NO_USAGE, ...end })
  expect(translation()(ended)).toMatchObject([
    { sessionUpdate: 'agent_message_chunk', content: { text: expect.stringContaining(words) } },
  ])
})

test('usage has the whole window and the cost so far, and only where both are known', () => {
  const translate = translation()
  const usage = { input: 90, cached_read: 0, cache_write: 0, output: 10, reasoning: 0 }
  const pressure = { tier: 'none', ratio: 0.1, window_tokens: 1000 } as const
  const call = { call_index: 0, usage, latency_ms: 1, stop_reason: 'end', pressure } as const
  translate(event('provider_usage', { ...call, cost_usd: 0.5 }), { past: true })
  expect(translate(event('provider_usage', { ...call, cost_usd: 0.25 }))).toEqual([
    {
      sessionUpdate: 'usage_update',
      used: 100,
      size: 1000,
      cost: { amount: 0.75, currency: 'USD' },
    },
  ])
  expect(translate(event('provider_usage', call))).toEqual([
    { sessionUpdate: 'usage_update', used: 100, size: 1000 },
  ])
  expect(translate(event('provider_usage', { ...call, pressure: 'unavailable' }))).toEqual([])
})

test('pressure and checkpoints are shown in the form that a client declares, or as messages', () => {
  const pressure = live('context_pressure', {
    tier: 'warning',
    input_tokens: 80,
    window_tokens: 100,
  })
  const tier = event('notice', { code: 'context_warning', text: 'The window is 80 % full.' })
  const other = event('notice', { code: 'window_unknown', text: 'The window is unknown.' })
  const names = (offers: { notices: boolean; compaction: boolean }, update: SessionUpdate) =>
    translation(offers)(update).map(({ sessionUpdate }) => sessionUpdate)
  const [all, none] = [
    { notices: true, compaction: true },
    { notices: false, compaction: false },
  ]
  expect([names(all, pressure), names(none, pressure)]).toEqual([
    ['usage_update'],
    ['usage_update'],
  ])
  expect([names(all, tier), names(none, tier)]).toEqual([['notice'], ['agent_message_chunk']])
  expect([names(all, other), names(none, other)]).toEqual([['notice'], ['agent_message_chunk']])
  const compaction = (trigger: 'manual' | 'overflow_recovery') =>
    event('history_compaction', {
      trigger,
      strategy: 'excerpts',
      tail: { from_seq: 9, turns: 1, tokens: 1 },
      tokens_before: 9,
      tokens_after: 3,
      summary: 'We moored.',
    })
  const noticesOnly = { notices: true, compaction: false }
  const shown = (['manual', 'overflow_recovery'] as const).map((trigger) =>
    [all, noticesOnly, none].map((offers) => names(offers, compaction(trigger))),
  )
  expect(shown).toEqual([
    [['compaction_update'], [], []],
    [['compaction_update'], ['notice'], ['agent_message_chunk']],
  ])
})

test('a Turn that only writes the summary of a checkpoint is not shown', () => {
  const translate = translation()
  translate(event('turn_started', { source: { presenter: 'acp' }, purpose: 'summary' }))
  const shown = [
    event('user_message', { text: 'Summarise.', prompt_mode: 'string' }),
    REQUEST,
    delta('We'),
    answer('We moored.'),
    event('turn_ended', { status: 'completed', usage_total: NO_USAGE }),
  ].flatMap((one) => translate(one))
  expect(shown).toEqual([])
})
