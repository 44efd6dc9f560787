import { expect, test } from 'vitest'
import { sha256 } from '../../encoding/hash.ts'
import { canonicalJson } from '../../encoding/json.ts'
import type { EventData, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { BlobKey, EventId, SessionId, TurnId } from '../../model/ids.ts'
import { PROBE_PROMPTS, probeFiles } from './script.ts'
import { EVIDENCE_EVENTS, RECORDED_FACTS, RunEvidence } from './run-evidence.ts'

const WORKSPACE = '/scratch/harbour-1'
const FILES = probeFiles(1)
const HASH = 'ab'.repeat(32)

function evidenceOf(...drafts: readonly EventDraft[]) {
  const found = new RunEvidence({ workspace: WORKSPACE, files: FILES })
  for (const [seq, draft] of drafts.entries()) found.take(eventOf(draft, seq))
  return found.evidence
}

function eventOf(draft: EventDraft, seq: number): WholeEvent {
  return {
    v: 1,
    seq,
    id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
    session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
    turn_id: TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12'),
    ts: '2026-01-31T12:00:00.000Z',
    prev: null,
    crc: '00000000',
    ...draft,
  }
}

const started: EventDraft = {
  type: 'session_started',
  data: {
    workspace: WORKSPACE,
    provider: 'openai',
    model: 'model',
    mode: 'build',
    permission_mode: 'read-only',
    presenter: 'cli',
    harness_version: '1.0.0',
  },
}

const PARAMS = {
  replay: 'attach-turn',
  late_role: 'user',
  tool_choice: 'auto',
  limits: {},
} as const
const surfaced: EventDraft = {
  type: 'prompt_surface',
  data: {
    contract_version: 'hw1',
    layer0_sha256: HASH,
    layer1_sha256: HASH,
    toolset_sha256: HASH,
    skills_sha256: HASH,
    blob: BlobKey.parse(`${HASH}.json`),
    params: PARAMS,
    reason: 'session_start',
  },
}

function requested(more: Partial<EventData<'provider_request'>> = {}): EventDraft {
  return {
    type: 'provider_request',
    data: {
      call_index: 0,
      attempt: 0,
      dialect: 'responses',
      model: 'model',
      contract_version: 'hw1',
      cache_key: 'key',
      request_sha256: HASH,
      request_bytes: 400,
      shared_prefix_bytes: 0,
      transport: 'http-sse',
      ...more,
    },
  }
}

function message(text: string): EventDraft {
  return { type: 'user_message', data: { text, prompt_mode: 'string' } }
}

type Came = Partial<EventData<'tool_result'>>

/** A call of a tool, by default read, and its result. */
function called(path: unknown, came: Came = {}): EventDraft[] {
  const { call_id = 'call', name = 'read' } = came
  const args = JSON.stringify({ path })
  const data = { call_id, name, outcome: 'ok', output: '', duration_ms: 1, ...came } as const
  return [
    { type: 'tool_call', data: { call_id, name, arguments: args } },
    { type: 'tool_result', data },
  ]
}

test('every fact about requests comes from the Log', () => {
  const { facts } = evidenceOf(started, surfaced, message('one'), requested(), message('two'))
  expect(facts).toEqual(
    new Map([
      ['provider', ['openai']],
      ['model', ['model']],
      ['mode', ['build']],
      ['permission_mode', ['read-only']],
      ['harness_version', ['1.0.0']],
      ['layer0_sha256', [HASH]],
      ['layer1_sha256', [HASH]],
      ['toolset_sha256', [HASH]],
      ['skills_sha256', [HASH]],
      ['params_sha256', [sha256(canonicalJson(PARAMS))]],
      ['dialect', ['responses']],
      ['transport', ['http-sse']],
      ['contract_version', ['hw1']],
      ['prompts_sha256', [sha256(canonicalJson(['one', 'two']))]],
    ]),
  )
  expect([...facts.keys()].toSorted()).toEqual([...RECORDED_FACTS].toSorted())
})

test('a fact that changed has every value it had', () => {
  const { facts } = evidenceOf(
    requested(),
    requested({ transport: 'websocket', model: 'other' }),
    requested(),
  )
  expect(facts.get('transport')).toEqual(['http-sse', 'websocket'])
  expect(facts.get('model')).toEqual(['model', 'other'])
})

test('requests are returned with their usage, including the last one', () => {
  const { requests } = evidenceOf(requested(), requested({ call_index: 1 }))
  expect(requests.map(({ call_index }) => call_index)).toEqual([0, 1])
})

test('a file counts as read if its own content came back, by any path [PC-027]', () => {
  const [harbour, knots, tides] = FILES.map(({ text }) => text)
  const { reads } = evidenceOf(
    ...called('./harbour.txt', { output: harbour ?? '' }),
    ...called(`${WORKSPACE}/notes/knots.txt`, { output: knots ?? '' }),
    ...called('log/tides.txt', { output: tides ?? '' }),
    ...called('log/tides.txt', { output: tides ?? '' }),
  )
  expect(reads).toEqual({ expected: 3, right: 3, outside: 0 })
})

test('a file of another workspace, a failed call and another tool do not count as read correctly [PC-027]', () => {
  const [own, elsewhere] = [1, 2].map((number) => probeFiles(number)[0]?.text ?? '')
  const error = { kind: 'outside_workspace', message: 'no' } as const
  const { reads } = evidenceOf(
    ...called('harbour.txt', { output: elsewhere ?? '' }),
    ...called('notes/knots.txt', { output: own ?? '' }),
    ...called('harbour.txt', { outcome: 'failed', output: own ?? '' }),
    ...called('harbour.txt', { name: 'write', output: own ?? '' }),
    ...called('/scratch/harbour-2/harbour.txt', { outcome: 'failed', error }),
    ...called(7, { output: own ?? '' }),
  )
  expect(reads).toEqual({ expected: 3, right: 0, outside: 1 })
})

test('each file has a separate prompt and the only occurrence of its mark', () => {
  expect(PROBE_PROMPTS).toHaveLength(FILES.length)
  for (const [at, { path, text, mark }] of FILES.entries()) {
    expect(PROBE_PROMPTS[at]).toContain(path)
    const all = [...FILES, ...probeFiles(2)].filter((file) => file.text.includes(mark))
    expect(all.map((file) => file.text)).toEqual([text])
  }
})

test('the requested Event types are those that are used', () => {
  const types = [started, surfaced, requested(), message(''), ...called('')].map(({ type }) => type)
  const counted = [...types, 'turn_started', 'provider_usage']
  expect(EVIDENCE_EVENTS.toSorted()).toEqual([...new Set(counted)].toSorted())
})
