import { readFile } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { composedProvider } from '../support/pressure/replay-composed.ts'
import type { Measure } from '../support/pressure/replay-lengths.ts'
import { ReplayModel } from '../support/pressure/replay-model.ts'
import { costsOf, ratioToCheaper } from '../support/pressure/replay-story.ts'
import { anyTrace, ReplayTrace, smallTrace } from '../support/pressure/replay-trace.ts'

const NAMES = ['short-turns', 'long-tool-loops', 'many-images']
const MEASURES: readonly Measure[] = ['wire', 'sent']

/** An image that stays because much follows it, and one before each long Turn, which is retired alone. */
const LONG_TURNS: ReplayTrace = {
  what: 'made',
  turns: [30, 14, 14, 14, 2].map((calls) => {
    const attached = [{ kind: 'image' as const, bytes: 5_000 }]
    const bytes = calls === 30 ? 3_000 : 40
    return { after_s: 20, ask_bytes: 40, attached, calls: Array.from({ length: calls }, () => bytes) }
  }),
}

async function traceNamed(name: string): Promise<ReplayTrace> {
  const text = await readFile(new URL(`replay/${name}.json`, import.meta.url), 'utf8')
  return ReplayTrace.parse(JSON.parse(text))
}

function modelCosts(trace: ReplayTrace, measure: Measure) {
  return costsOf(trace, (replay) => new ReplayModel(replay, measure))
}

async function composedCosts(trace: ReplayTrace, measure: Measure) {
  const asking = {
    'attach-turn': await composedProvider('attach-turn', measure),
    window: await composedProvider('window', measure),
    'cost-aware': await composedProvider('cost-aware', measure),
  }
  return costsOf(trace, (replay) => asking[replay])
}

test.each(MEASURES)(
  'the model of composer and cache has their figures, counting bytes by the measure %s',
  async (measure) => {
    for (const trace of [LONG_TURNS, ...fc.sample(smallTrace(), { seed: 7, numRuns: 11 })]) {
      expect(await modelCosts(trace, measure)).toEqual(await composedCosts(trace, measure))
    }
  },
)

test.each(NAMES.flatMap((name) => MEASURES.map((measure) => [name, measure] as const)))(
  '[SR-008] on the trace %s, by the measure %s, cost-aware is within a tenth of the cheaper of the others',
  async (name, measure) => {
    const costs = await modelCosts(await traceNamed(name), measure)
    expect(ratioToCheaper(costs)).toBeLessThanOrEqual(1.1)
  },
)

test('window is cheaper on one of the traces, attach-turn on the others', async () => {
  const cheaper = []
  for (const name of NAMES) {
    const costs = await modelCosts(await traceNamed(name), 'wire')
    cheaper.push(costs.window < costs['attach-turn'] ? 'window' : 'attach-turn')
  }
  expect(cheaper).toEqual(['attach-turn', 'window', 'attach-turn'])
})

test.each(MEASURES)(
  '[SR-008] on every trace, by the measure %s, cost-aware costs at most 1.5 times as much as the cheaper of the others',
  async (measure) => {
    await fc.assert(
      fc.asyncProperty(anyTrace(), async (trace) => {
        const costs = await modelCosts(trace, measure)
        expect(ratioToCheaper(costs)).toBeLessThanOrEqual(1.5)
      }),
      { seed: 20_260_131, numRuns: 60 },
    )
  },
)
