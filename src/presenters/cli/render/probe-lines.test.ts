import { expect, test } from 'vitest'
import type { Comparison, RunFigures } from '../../../session/probe/cache-comparison.ts'
import { probePlan } from '../../../session/probe/plan.ts'
import type { Line } from '../text/cell-width.ts'
import { isWellBehaved, comparisonLines, planLines } from './probe-lines.ts'

function textOf(lines: readonly Line[]): string[] {
  return lines.map((line) => line.map(({ text }) => text).join(''))
}

function figures(variant: string, cached_ratio: number): RunFigures {
  const tokens = { input: 1000, cached_read: 0, cache_write: 0 }
  return {
    variant,
    sessions: 1,
    requests: 6,
    first: { ...tokens, cached_ratio: 0 },
    after_first: { ...tokens, cached_ratio },
    lowest_ratio: 0.5,
    request_bytes: 123_456,
    sent_bytes: 23_456,
    continued: 5,
    reads: { expected: 3, right: 3, outside: 0 },
  }
}

const COMPARISON: Comparison = {
  attributed_to: 'transport',
  runs: [figures('http-sse', 0.92), figures('websocket', 0.923)],
  moved: { first: 0, after_first: 0.003 },
}

test('a plan shows the prompts, the model and the number of calls', () => {
  const plan = probePlan('transport', { provider: 'openai', model: 'model' })
  expect(textOf(planLines(plan, 'https://example.org'))).toEqual([
    'Changes only the transport: http-sse against websocket.',
    'Model: model (openai), https://example.org.',
    '2 Sessions, each with 3 prompts in a temporary folder; at least 12 calls:',
    ...plan.prompts.map((prompt) => `  ${prompt}`),
  ])
})

test('two runs are side by side, with a row for every figure that either has', () => {
  expect(textOf(comparisonLines(COMPARISON))).toEqual([
    '                          http-sse  websocket',
    'Calls                            6          6',
    'Cached in the first call       0 %        0 %',
    'Cached after it               92 %       92 %',
    'Lowest of these               50 %       50 %',
    'Bytes of requests          123,456    123,456',
    'Bytes sent                  23,456     23,456',
    'Continued                        5          5',
    'Files read correctly        3 of 3     3 of 3',
    'Cached tokens after the first call: the transport makes no difference.',
  ])
})

test('a change is shown in points, with its position', () => {
  const [one, other] = COMPARISON.runs
  const elsewhere = { ...one.first, cached_ratio: 0.4 }
  const moved = { first: 0, after_first: -0.125, other_workspace: 0.4 }
  const runs = [one, { ...other, other_workspace: elsewhere }] as const
  const text = textOf(comparisonLines({ attributed_to: 'contract', runs, moved }))
  expect(text).toContain('Cached in the first call elsewhere         -       40 %')
  expect(text.slice(-2)).toEqual([
    'Cached tokens after the first call: 12.5 percentage points fewer in the second run, because of the contract.',
    'Cached tokens of the first call in another workspace: 40 percentage points more in the second run, because of the contract.',
  ])
})

test('a run that missed its workspace is named', () => {
  const [one, other] = COMPARISON.runs
  const misread = { ...other, reads: { expected: 3, right: 2, outside: 1 } }
  expect([one, misread].map(isWellBehaved)).toEqual([true, false])
  expect(textOf(comparisonLines({ ...COMPARISON, runs: [one, misread] })).at(-1)).toBe(
    'websocket: of 3 files 2 were read in the right workspace, and 1 call left it.',
  )
})
