import { expect, test } from 'vitest'
import { sampleDescriptor, wholeEvents } from '../../test/support/history/sample-resources.ts'
import type { EventDraft, WholeEvent } from '../model/events/event.ts'
import type { ResourceId } from '../model/ids.ts'
import { TurnId } from '../model/ids.ts'
import { costlyResources } from './replay-cost.ts'

/** A Turn of a generated Session. */
interface TurnPlan {
  /** Handles of the images attached to its message. */
  readonly attached?: readonly string[]
  /** Bytes of text in the request of each call; empty for a Turn without an answer. */
  readonly texts: readonly number[]
  /** Handles of the images that its requests show; those attached to it by default. */
  readonly shows?: readonly string[]
  readonly before?: readonly EventDraft[]
  readonly uncached?: boolean
}

const PICTURE = { bytes: 30_000, base64: 40_000, tokens: 1_600 }
const NOW = turnId(99)

/** The Events of these Turns, and the start of the Turn `NOW`. A token is four bytes of text; images have their own cost. */
function session(turns: readonly TurnPlan[], nowAtMinute = 1): WholeEvent[] {
  const last: TurnPlan = { attached: ['@img99'], texts: [] }
  const drafts = [...turns, last].map((plan, number) => draftsOf(plan, number))
  const old = wholeEvents(drafts.flat())
  const minute = String(nowAtMinute).padStart(2, '0')
  return old.map((event) => {
    return event.turn_id === turnId(turns.length)
      ? { ...event, turn_id: NOW, ts: `2026-01-31T12:${minute}:00.000Z` }
      : event
  })
}

function draftsOf(plan: TurnPlan, number: number): EventDraft[] {
  const { attached = [], texts, shows = attached, before = [], uncached = false } = plan
  const resources = attached.map((one) => sampleDescriptor(one, { size_bytes: PICTURE.bytes }))
  let cached = 0
  const calls = texts.flatMap((text, call_index) => {
    const input = text / 4 + shows.length * PICTURE.tokens
    const [cached_read, cache_write] = uncached ? [0, 0] : [cached, input - cached]
    cached = input
    const usage = { input, cached_read, cache_write, output: 1, reasoning: 0 }
    const bytes = text + shows.length * PICTURE.base64
    return [requested(call_index, bytes, shows.map(projectedAs)), used(call_index, usage)]
  })
  const opened: EventDraft[] = [
    { type: 'turn_started', data: { source: { presenter: 'test' } } },
    { type: 'user_message', data: { text: 'Look.', prompt_mode: 'blocks', resources } },
  ]
  return [...before, ...opened, ...calls].map((draft) => ({ ...draft, turn_id: turnId(number) }))
}

function turnId(number: number) {
  return TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y0z${String(number).padStart(2, '0')}`)
}

function resourceId(handle: string): ResourceId {
  return sampleDescriptor(handle).resource_id
}

function projectedAs(handle: string) {
  const content_sha256 = '0'.repeat(64)
  const lifetime = 'window' as const
  return { resource_id: resourceId(handle), content_sha256, bytes: PICTURE.bytes, lifetime }
}

function requested(
  call_index: number,
  request_bytes: number,
  projected: readonly ReturnType<typeof projectedAs>[],
): EventDraft {
  const data = {
    call_index,
    attempt: 0,
    dialect: 'messages',
    model: 'a-model',
    contract_version: 'hw1',
    cache_key: 'hw1',
    request_sha256: '0'.repeat(64),
    request_bytes,
    shared_prefix_bytes: 1,
    projected: [...projected],
    transport: 'http-sse',
  } as const
  return { type: 'provider_request', data }
}

type Usage = Extract<EventDraft, { type: 'provider_usage' }>['data']['usage']

function used(call_index: number, usage: Usage): EventDraft {
  const ended = { latency_ms: 1, pressure: 'unavailable', stop_reason: 'end' } as const
  return { type: 'provider_usage', data: { call_index, usage, ...ended } }
}

function retired(handle: string, reread: number): EventDraft {
  const data = { resource_id: resourceId(handle), why: 'cost', estimate: { reread } }
  return { type: 'resource_retired', data }
}

function gone(events: readonly WholeEvent[]): ResourceId[] {
  return costlyResources(events, NOW).map(({ resource_id }) => resource_id)
}

const SHORT_AFTER = { attached: ['@img1'], texts: [8_000, 10_000] }
const LONG_AFTER = { attached: ['@img1'], texts: [8_000, 80_000] }

test('[SR-008] an image is retired when reading again what follows costs less than keeping it, and the figures are recorded', () => {
  const expected = { tokens: 1_600, following: 500, calls: 20, reread: 575 }
  expect(costlyResources(session([SHORT_AFTER]), NOW)).toEqual([
    { resource_id: resourceId('@img1'), estimate: expected },
  ])
})

test('an image is kept while reading again what follows costs more', () => {
  expect(gone(session([LONG_AFTER]))).toEqual([])
})

test('an image is retired after enough calls, when keeping it for as many more would cost more', () => {
  const calls = (count: number) => [
    { attached: ['@img1'], texts: [8_000, ...Array.from({ length: count }, () => 24_000)] },
  ]
  expect(gone(session(calls(20)))).toEqual([])
  expect(gone(session(calls(30)))).toEqual([resourceId('@img1')])
})

test('an image is not retired before a call that contained it was answered, or on the Turn that attaches it', () => {
  expect(costlyResources([], undefined)).toEqual([])
  expect(gone(session([]))).toEqual([])
  expect(gone(session([{ attached: ['@img1'], texts: [] }]))).toEqual([])
  const unanswered = { attached: ['@img2'], texts: [] }
  expect(gone(session([SHORT_AFTER, unanswered]))).toEqual([resourceId('@img1')])
  expect(costlyResources(session([SHORT_AFTER]).slice(0, -2), turnId(0))).toEqual([])
})

test('after a pause in which caches expire, all images are retired at no cost', () => {
  const costly = costlyResources(session([LONG_AFTER], 5), NOW)
  const nothing = { tokens: 1_600, following: 0, calls: 20, reread: 0 }
  expect(costly).toEqual([{ resource_id: resourceId('@img1'), estimate: nothing }])
  expect(gone(session([LONG_AFTER], 4))).toEqual([])
})

test('if a provider caches nothing, all images are retired', () => {
  expect(gone(session([{ ...LONG_AFTER, uncached: true }]))).toEqual([resourceId('@img1')])
})

test('the images of the latest message are retired alone if little follows them, whatever follows earlier ones', () => {
  const later = {
    attached: ['@img2', '@img3'],
    shows: ['@img1', '@img2', '@img3'],
    texts: [82_000],
  }
  expect(gone(session([LONG_AFTER, later]))).toEqual([resourceId('@img2'), resourceId('@img3')])
})

test('all images are retired together if that saves more', () => {
  const many = Array.from({ length: 10 }, (_, n) => `@img${n + 1}`)
  const first = { attached: many, texts: [8_000, 80_000] }
  const later = { attached: ['@img11'], shows: [...many, '@img11'], texts: [82_000, 82_000] }
  expect(gone(session([first, later]))).toEqual([...many, '@img11'].map(resourceId))
})

test('all retirements together cost at most their share of the cost of calls without them', () => {
  // Two calls cost 5,485. Retirements may spend 40 per cent of the cost without the earlier one, and this one costs 575.
  const earlier = (reread: number) =>
    session([{ ...SHORT_AFTER, before: [retired('@img7', reread)] }])
  expect(gone(earlier(1_150))).toEqual([resourceId('@img1')])
  expect(gone(earlier(1_160))).toEqual([])
})

test('a retired image is not listed again', () => {
  const dropped: EventDraft = {
    type: 'resource_dropped',
    data: { resource_id: resourceId('@img1'), by: 'person' },
  }
  const next = { texts: [11_000], shows: [] }
  expect(gone(session([SHORT_AFTER, { ...next, before: [retired('@img1', 0)] }]))).toEqual([])
  expect(gone(session([SHORT_AFTER, { ...next, shows: ['@img1'], before: [dropped] }]))).toEqual([])
})

test('after a checkpoint, only images in its tail can be retired', () => {
  const checkpoint: EventDraft = {
    type: 'history_compaction',
    data: {
      trigger: 'manual',
      strategy: 'local',
      range: { from_seq: 0, to_seq: 5 },
      tail: { from_seq: 6, turns: 1, tokens: 1 },
      tokens_before: 2,
      tokens_after: 1,
      carried: {
        files_touched: [],
        decisions: [],
        open_tasks: [],
        tool_outcomes: [],
        resources: [],
        skills: [],
        hydrations: [],
        pinned: [],
      },
      state: { handle_counter: 0, resources: [], notices: [] },
      summary: 'Pictures were looked at.',
    },
  }
  const later = { attached: ['@img2'], shows: ['@img1', '@img2'], texts: [9_000] }
  const behind = { before: [checkpoint], texts: [4_000, 4_400], shows: ['@img2'] }
  expect(gone(session([SHORT_AFTER, later, behind]))).toEqual([resourceId('@img2')])
})
