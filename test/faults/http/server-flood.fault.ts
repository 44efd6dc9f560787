import { tmpdir } from 'node:os'
import { existsSync } from 'node:fs'
import { runFault, type Figure } from '../support/figure.ts'
import { MOST_GROWTH_MB, returned, runServerFloods, type FloodSizes } from './server-flood-runs.ts'

const FULL: FloodSizes = { slow: 200, streams: 10_000, atOnce: 200, pipelinedBytes: 50_000_000 }
const QUICK: FloodSizes = { slow: 20, streams: 300, atOnce: 100, pipelinedBytes: 2_000_000 }

await runFault(
  'floods and slow clients at the server',
  async () => (existsSync('/proc/self/clear_refs') ? undefined : 'needs /proc of Linux'),
  async ({ full }) => {
    const figures = await runServerFloods(tmpdir(), full ? FULL : QUICK)
    return [...figures.map(bounded), await leftoverIsCaught()]
  },
)

function bounded(figure: Figure): Figure {
  return { ...figure, more: { ...figure.more, bound_mb: MOST_GROWTH_MB } }
}

async function leftoverIsCaught(): Promise<Figure> {
  const left = await returned({ descriptors: () => 21, isAlive: () => true }, 20, 100)
  const violations = left.length > 0 ? [] : ['not caught']
  return { test: 'planted descriptor is caught', n: 1, violations }
}
