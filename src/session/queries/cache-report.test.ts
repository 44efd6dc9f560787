import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import { EventId, ResourceId, SessionId, TurnId } from '../../model/ids.ts'
import { CacheReport, type ExplainedRequest } from './cache-report.ts'

const START = Date.parse('2026-01-31T12:00:00.000Z')
const MINUTE = 60_000
const TURNS = ['y', 'z'].map((last) => TurnId.parse(`trn_01kg8m2q3r4s5t6v7w8x9y0z1${last}`))

type RequestData = Partial<EventData<'provider_request'>> & { readonly turn?: number }
type Answered = Partial<EventData<'provider_usage'>['usage']> & {
  readonly call_index?: number
  readonly turn?: number
  readonly continuation?: NonNullable<EventData<'provider_usage'>['continuation']>
}

/** Passes calls to a report, in order and at known times. */
class Script {
  readonly report = new CacheReport()
  readonly requests: ExplainedRequest[] = []
  #seq = 0
  #now = START

  wait(ms: number): this {
    this.#now += ms
    return this
  }

  turn(turn = 0): this {
    return this.#take({
      ...this.#envelope(turn),
      type: 'turn_started',
      data: { source: { presenter: 'cli' } },
    })
  }

  requested({ turn = 0, ...data }: RequestData = {}): this {
    return this.#take({
      ...this.#envelope(turn),
      type: 'provider_request',
      data: {
        call_index: 0,
        attempt: 0,
        dialect: 'responses',
        model: 'model',
        contract_version: 'hw1',
        cache_key: 'key',
        request_sha256: 'a'.repeat(64),
        request_bytes: 40_000,
        shared_prefix_bytes: 0,
        transport: 'http-sse',
        ...data,
      },
    })
  }

  answered({ call_index = 0, turn = 0, continuation, ...usage }: Answered = {}): this {
    const tokens = { input: 10_000, cached_read: 0, cache_write: 0, output: 9, reasoning: 0 }
    return this.#take({
      ...this.#envelope(turn),
      type: 'provider_usage',
      data: {
        call_index,
        usage: { ...tokens, ...usage },
        latency_ms: 5,
        ...(continuation === undefined ? {} : { continuation }),
        pressure: 'unavailable',
        stop_reason: 'end_turn',
      },
    })
  }

  /** A call without a finding. */
  call(): this {
    return this.requested().answered()
  }

  end(): readonly ExplainedRequest[] {
    this.#keep(this.report.end())
    return this.requests
  }

  /** The finding for the last request. */
  get finding(): ExplainedRequest['finding'] {
    return this.end().at(-1)?.finding
  }

  #take(event: WholeEvent): this {
    this.#keep(this.report.take(event))
    return this
  }

  #keep(request: ExplainedRequest | undefined): void {
    if (request !== undefined) this.requests.push(request)
  }

  #envelope(turn: number) {
    const turn_id = TURNS[turn]
    if (turn_id === undefined) throw new Error('there are two Turns')
    return {
      v: 1 as const,
      seq: this.#seq++,
      id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
      session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
      turn_id,
      ts: new Date(this.#now).toISOString(),
      prev: null,
      crc: '00000000',
    }
  }
}

const SHARED = { shared_prefix_bytes: 39_200 }

test('a request that extends the one before keeps all of it, and one that breaks keeps what precedes the break', () => {
  const script = new Script().turn().call()
  script.requested({ shared_prefix_bytes: 40_000, request_bytes: 50_000 }).answered()
  // A version that did not count brackets recorded less for the same extension.
  script.requested({ shared_prefix_bytes: 41_500, request_bytes: 50_000 }).answered()
  script.requested({ shared_prefix_bytes: 10_000, prefix_break: { at: 10_000, cause: 'undo' } })
  expect(script.end().map(({ kept_ratio }) => kept_ratio)).toEqual([undefined, 1, 1, 0.2])
})

test('a request is compared with the last one to its own model, even if others came in between', () => {
  const other = { model: 'other', cache_key: 'other', request_bytes: 80_000 }
  const script = new Script().turn().call()
  script
    .wait(MINUTE)
    .requested({ ...other, prefix_break: { at: 0, cause: 'model' } })
    .answered()
  script.wait(MINUTE).requested({ request_bytes: 50_000, shared_prefix_bytes: 40_000 })
  script.answered({ cached_read: 8_000 })
  const rows = script
    .end()
    .map(({ kept_ratio, idle_ms, finding }) => [kept_ratio, idle_ms, finding])
  expect(rows).toEqual([
    [undefined, undefined, undefined],
    [0, undefined, undefined],
    [1, 2 * MINUTE, undefined],
  ])
})

test('a request is reported with its shared prefix, its cached tokens and the idle time', () => {
  const script = new Script().turn().requested().answered({ cache_write: 9000 })
  script
    .wait(2000)
    .turn(1)
    .requested({ turn: 1, ...SHARED, sent_bytes: 800, transport: 'websocket' })
    .answered({ turn: 1, cached_read: 9_800, cache_write: 100, continuation: { used: true } })
  const common = {
    call_index: 0,
    attempt: 0,
    model: 'model',
    dialect: 'responses',
    contract_version: 'hw1',
    request_bytes: 40_000,
  }
  expect(script.end()).toEqual([
    {
      ...common,
      seq: 1,
      turn: 1,
      transport: 'http-sse',
      sent_bytes: 40_000,
      shared_prefix_bytes: 0,
      shared_ratio: 0,
      usage: { input: 10_000, cached_read: 0, cache_write: 9000, cached_ratio: 0 },
    },
    {
      ...common,
      seq: 4,
      turn: 2,
      transport: 'websocket',
      sent_bytes: 800,
      shared_prefix_bytes: 39_200,
      shared_ratio: 0.98,
      kept_ratio: 1,
      idle_ms: 2000,
      usage: { input: 10_000, cached_read: 9_800, cache_write: 100, cached_ratio: 0.98 },
      continuation: { used: true },
    },
  ])
})

test('the summary counts cached tokens after the first answered call, and nothing twice', () => {
  const script = new Script().requested().requested({ attempt: 1 }).answered({ cached_read: 4000 })
  script.requested({ call_index: 1, ...SHARED, sent_bytes: 1000 })
  script.answered({
    call_index: 1,
    cached_read: 9000,
    cache_write: 1,
    continuation: { used: true },
  })
  const prefix_break = { at: 10, cause: 'checkpoint' } as const
  script.requested({ call_index: 2, shared_prefix_bytes: 10, prefix_break })
  script.answered({ call_index: 2, cached_read: 1000 })
  script.end()
  expect(script.report.summary).toEqual({
    requests: 4,
    answered: 3,
    after_first: { input: 20_000, cached_read: 10_000, cache_write: 1, cached_ratio: 0.5 },
    request_bytes: 160_000,
    sent_bytes: 121_000,
    continued: 1,
    breaks: { checkpoint: 1 },
    findings: {},
  })
})

test('a request without an answer is reported without usage, at the next one or at the end', () => {
  const script = new Script().requested().requested({ attempt: 1 })
  expect(script.requests).toHaveLength(1)
  expect(script.end().map(({ attempt, usage }) => ({ attempt, usage }))).toEqual([
    { attempt: 0, usage: undefined },
    { attempt: 1, usage: undefined },
  ])
  expect(script.report.end()).toBeUndefined()
})

test('usage of another call or Turn is not assigned to a request', () => {
  const script = new Script().requested().answered({ call_index: 7 }).answered({ turn: 1 })
  expect(script.requests).toEqual([])
  expect(script.end().map(({ usage }) => usage)).toEqual([undefined])
})

test('a first call, and one that was cached as far as it was shared, have no finding', () => {
  expect(new Script().call().finding).toBeUndefined()
  const warm = new Script().call().requested(SHARED).answered({ cached_read: 9_300 })
  expect(warm.finding).toBeUndefined()
  expect(new Script().call().call().finding).toBeUndefined()
})

test('an unexplained break is a bug, even without an answer', () => {
  const broken = new Script().call().requested({
    ...SHARED,
    prefix_break: { at: 39_200, cause: 'unknown' },
  })
  expect(broken.finding).toBe('bug')
})

test('a shared prefix that was not cached is explained by the first reason in the Log', () => {
  const missed = { cached_read: 1024 }
  const after = (script: Script, requested: RequestData = {}) =>
    script.requested({ ...SHARED, ...requested }).answered(missed)
  expect(after(new Script().call().wait(12 * MINUTE)).finding).toBe('cold')
  expect(after(new Script().call().wait(5 * MINUTE)).finding).toBe('cold')
  expect(after(new Script().call().wait(5 * MINUTE - 1)).finding).toBe('unexplained')
  expect(after(new Script().call(), { cache_key: 'other' }).finding).toBe('key_changed')
  expect(after(new Script().call(), { transport: 'in-process' }).finding).toBe('no_cache')
})

test('a prefix below the cache minimum is not expected to be cached', () => {
  const short = new Script().call().requested({ shared_prefix_bytes: 4000 }).answered()
  expect(short.finding).toBe('too_short')
  const enough = new Script().call().requested({ shared_prefix_bytes: 4100 }).answered()
  expect(enough.finding).toBe('unexplained')
})

test('more than fifteen requests of a key within a minute crowd its machine', () => {
  const many = (count: number, everyMs: number) => {
    const script = new Script().call()
    for (let index = 2; index < count; index++) script.wait(everyMs).call()
    return script.wait(everyMs).requested(SHARED).answered().finding
  }
  expect(many(16, 1000)).toBe('crowded')
  expect(many(15, 1000)).toBe('unexplained')
  expect(many(16, 4000)).toBe('unexplained')
})

test('less is expected to be cached with images, whose tokens do not follow their bytes', () => {
  const projected = [
    {
      resource_id: ResourceId.parse('res_01kg8m2q3r4s5t6v7w8x9y0z12'),
      content_sha256: 'a'.repeat(64),
      bytes: 9,
      lifetime: 'turn',
    },
  ] as const
  const half = { cached_read: 6000 }
  expect(new Script().call().requested(SHARED).answered(half).finding).toBe('unexplained')
  const shown = new Script().call().requested({ ...SHARED, projected: [...projected] })
  expect(shown.answered(half).finding).toBeUndefined()
})

test('a request that was not answered need not be known to the provider', () => {
  // The retry shares everything with the previous attempt, but only a tenth with the last answered request.
  const retried = new Script().call().requested({ shared_prefix_bytes: 4000 })
  retried.requested({ attempt: 1, shared_prefix_bytes: 40_000 }).answered()
  expect(retried.finding).toBe('too_short')
  const never = new Script()
    .requested()
    .requested({ attempt: 1, ...SHARED })
    .answered()
  expect(never.finding).toBeUndefined()
})

test('every request is reported exactly once, in any case', () => {
  const step = fc.constantFrom('asked', 'retried', 'answered', 'stray', 'turn', 'late')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const script = new Script()
      let requested = 0
      for (const one of steps) {
        if (one === 'asked') script.requested()
        else if (one === 'retried') script.requested({ attempt: 1, ...SHARED })
        else if (one === 'answered') script.answered({ cached_read: 5000 })
        else if (one === 'stray') script.answered({ call_index: 3 })
        else if (one === 'turn') script.turn()
        else script.wait(MINUTE)
        requested += one === 'asked' || one === 'retried' ? 1 : 0
      }
      const requests = script.end()
      const { summary } = script.report
      const seqs = requests.map(({ seq }) => seq)
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
      expect([requests.length, summary.requests]).toEqual([requested, requested])
      const answered = requests.flatMap(({ usage }) => usage ?? [])
      const after = answered.slice(1).reduce((sum, { input }) => sum + input, 0)
      expect([summary.answered, summary.after_first.input]).toEqual([answered.length, after])
    }),
  )
})
