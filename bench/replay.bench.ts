// The cost of the three replay policies: recorded traces, and the worst of many generated ones. Counted in tokens of the
// rehearsal model's prompt cache, so that the result does not depend on the machine.
import { readFile } from 'node:fs/promises'
import { ReplayModel } from '../test/support/pressure/replay-model.ts'
import { costsOf, ratioToCheaper, type Costs } from '../test/support/pressure/replay-story.ts'
import { generatedTraces, ReplayTrace } from '../test/support/pressure/replay-trace.ts'
import type { Measure } from '../test/support/pressure/replay-lengths.ts'
import { full, tell } from './figure.ts'

const TRACES = ['short-turns', 'long-tool-loops', 'many-images']
const MEASURES: readonly Measure[] = ['wire', 'sent']
const MADE = full ? 3_000 : 300

for (const name of TRACES) {
  const file = new URL(`../test/vectors/replay/${name}.json`, import.meta.url)
  const trace = ReplayTrace.parse(JSON.parse(await readFile(file, 'utf8')))
  for (const measure of MEASURES) {
    const costs = await costsBy(measure, trace)
    const ratio = ratioToCheaper(costs)
    tell({ bench: `replay: ${name}, ${named(measure)}`, ratio, bar: '<= 1.1', more: more(costs) })
  }
}

for (const measure of MEASURES) {
  let worst: Costs = { 'attach-turn': 1, window: 1, 'cost-aware': 0 }
  let all = 0
  for (const trace of generatedTraces(MADE)) {
    const costs = await costsBy(measure, trace)
    all += ratioToCheaper(costs)
    if (ratioToCheaper(costs) > ratioToCheaper(worst)) worst = costs
  }
  tell({
    bench: `replay: the worst of ${MADE} generated traces, ${named(measure)}`,
    ratio: ratioToCheaper(worst),
    bar: '<= 1.5',
    more: { ...more(worst), mean_ratio: all / MADE },
  })
}

function costsBy(measure: Measure, trace: ReplayTrace): Promise<Costs> {
  return costsOf(trace, (replay) => new ReplayModel(replay, measure))
}

function named(measure: Measure): string {
  return measure === 'wire'
    ? 'images counted as the server counts them'
    : 'images counted by their bytes'
}

function more(costs: Costs) {
  return {
    attach_turn: costs['attach-turn'],
    window: costs.window,
    cost_aware: costs['cost-aware'],
  }
}
