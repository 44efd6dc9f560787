import { expect, test } from 'vitest'
import { compareRuns, type ComparedRun, type Factor } from './cache-comparison.ts'
import type { ExplainedRequest } from '../queries/cache-report.ts'
import { RECORDED_FACTS, type RecordedFact, type SessionEvidence } from './run-evidence.ts'

type Facts = Partial<Record<RecordedFact, string | readonly string[]>>

/** A Session in which the value of each fact is its name, except for those given. */
function session(cached: readonly number[], facts: Facts = {}): SessionEvidence {
  return {
    facts: new Map(RECORDED_FACTS.map((fact) => [fact, [facts[fact] ?? fact].flat()])),
    requests: cached.map(request),
    reads: { expected: 3, right: 3, outside: 0 },
  }
}

function request(cached_read: number, index: number): ExplainedRequest {
  return {
    seq: index,
    turn: 1,
    call_index: index,
    attempt: 0,
    model: 'model',
    dialect: 'responses',
    contract_version: 'hw1',
    transport: 'http-sse',
    request_bytes: 400,
    sent_bytes: index === 0 ? 400 : 100,
    shared_prefix_bytes: 0,
    shared_ratio: 0,
    usage: { input: 100, cached_read, cache_write: 1, cached_ratio: cached_read / 100 },
    ...(index === 0 ? {} : { continuation: { used: true } }),
  }
}

function run(variant: string, ...sessions: SessionEvidence[]): ComparedRun {
  return { variant, sessions }
}

function refusal(factor: Factor, one: ComparedRun, other: ComparedRun) {
  const compared = compareRuns(factor, one, other)
  return compared.ok ? undefined : { kind: compared.error.kind, ...compared.error.details }
}

const SSE = run('http-sse', session([0, 90, 80], { transport: 'http-sse' }))

test('a difference between two runs that vary one factor is attributed to it [PC-031]', () => {
  const socket = run('websocket', session([0, 95, 95], { transport: 'websocket' }))
  const common = {
    sessions: 1,
    requests: 3,
    first: { input: 100, cached_read: 0, cache_write: 1, cached_ratio: 0 },
    request_bytes: 1200,
    sent_bytes: 600,
    continued: 2,
    reads: { expected: 3, right: 3, outside: 0 },
  }
  expect(compareRuns('transport', SSE, socket)).toEqual({
    ok: true,
    value: {
      attributed_to: 'transport',
      runs: [
        {
          ...common,
          variant: 'http-sse',
          after_first: { input: 200, cached_read: 170, cache_write: 2, cached_ratio: 0.85 },
          lowest_ratio: 0.8,
        },
        {
          ...common,
          variant: 'websocket',
          after_first: { input: 200, cached_read: 190, cache_write: 2, cached_ratio: 0.95 },
          lowest_ratio: 0.95,
        },
      ],
      moved: { first: 0, after_first: 0.1 },
    },
  })
})

test('a change of contract is colder at first, warmer and steadier afterwards, and its gain in another workspace is reported [PC-026]', () => {
  const early = (workspace: string) => ({
    contract_version: 'old',
    layer0_sha256: `old ${workspace}`,
  })
  const one = run('early', session([50, 95, 85], early('a')), session([0, 90], early('b')))
  const other = run('late', session([0, 95, 95]), session([60, 95]))
  const compared = compareRuns('contract', one, other)
  expect(compared.ok && compared.value.moved).toEqual({
    first: -0.5,
    after_first: 0.05,
    other_workspace: 0.6,
  })
  const steadiness = compared.ok && compared.value.runs.map(({ lowest_ratio }) => lowest_ratio)
  expect(steadiness).toEqual([0.85, 0.95])
  expect(compared.ok && compared.value.runs.map(({ reads }) => reads.expected)).toEqual([6, 6])
})

test.each(RECORDED_FACTS.filter((fact) => fact !== 'transport'))(
  'runs that differ in %s too are not compared, and it is named [PC-031]',
  (fact) => {
    const facts = { transport: 'websocket', [fact]: 'another' }
    expect(refusal('transport', SSE, run('websocket', session([0, 95], facts)))).toEqual({
      kind: 'not_unique',
      vary: 'transport',
      why: 'also_differ',
      facts: [fact],
    })
  },
)

test('a contract is not compared across transports, nor a transport across contracts [PC-028] [PC-032]', () => {
  const both = { transport: 'websocket', contract_version: 'old', layer0_sha256: 'old' }
  const other = run('websocket', session([0, 95], both))
  expect(refusal('contract', SSE, other)).toMatchObject({ facts: ['transport'] })
  expect(refusal('transport', SSE, other)).toMatchObject({
    facts: ['contract_version', 'layer0_sha256'],
  })
})

test('runs that do not differ in the factor show nothing about it', () => {
  expect(refusal('transport', SSE, { ...SSE, variant: 'websocket' })).toEqual({
    kind: 'not_unique',
    vary: 'transport',
    why: 'nothing_differs',
    facts: ['transport'],
  })
})

test('a run in which something changed on the way is not compared', () => {
  const fallen = run('websocket', session([0, 95], { transport: ['websocket', 'http-sse'] }))
  expect(refusal('transport', SSE, fallen)).toMatchObject({
    why: 'changed_within',
    facts: ['transport'],
  })
  const moved = run('late', session([0, 95]), session([0, 95], { toolset_sha256: 'other' }))
  expect(refusal('contract', SSE, moved)).toMatchObject({
    why: 'changed_within',
    facts: ['toolset_sha256'],
  })
  const worded = run('x', session([0, 95]), session([0, 95], { layer0_sha256: 'other' }))
  expect(refusal('transport', SSE, worded)).toMatchObject({ facts: ['layer0_sha256'] })
  expect(refusal('transport', SSE, run('websocket'))).toMatchObject({ why: 'changed_within' })
})

test('a run without a call after its first has nothing to compare', () => {
  const short = run('websocket', session([0], { transport: 'websocket' }))
  expect(refusal('transport', SSE, short)?.kind).toBe('invalid_response')
})
