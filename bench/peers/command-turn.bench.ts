// A short command in a Turn of the program over HTTP, from the answer of the model until the request with the result; the snapshots
// before and after are counted apart. Floor: a bare `bash -c` in a Turn in plain Node, with the same model.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../src/host/clock.ts'
import { systemIds } from '../../src/host/ids.ts'
import { systemSandbox } from '../../src/host/sandbox/sandbox.ts'
import { workspaceSnapshots } from '../../src/host/snapshots/snapshots.ts'
import { full, median, tell, tellSkipped, timed } from '../figure.ts'
import { inScratch } from '../scratch.ts'
import { floor } from './floor.ts'
import { startModel } from './model.ts'
import { own } from './own.ts'
import { quartersFor } from './quarters.ts'
import { runOnce, type RunRequest } from './run.ts'

const ROUNDS = full ? 10 : 1
/** Short for a model, and longer than a sandbox needs to start. */
const ANSWER_MS = 100
const CALLS = 10

await inScratch(async (folder) => {
  const status = await systemSandbox().status()
  if (!status.isConfined) return tellSkipped('command-turn', status.why)
  const quarters = await quartersFor('hawser', folder)
  const [program, bareTurn] = [await own(quarters), await floor(await quartersFor('floor', folder))]
  const home = join(folder, 'snapshots')
  await mkdir(home, { mode: 0o700 })
  const ids = systemIds(systemClock)
  const snapshots = workspaceSnapshots({ workspace: quarters.workspace, home, ids })
  const take = async () => {
    const taken = await snapshots.take()
    if (!taken.ok) throw new Error(taken.error.message)
  }
  const model = await startModel(folder, [program, bareTurn])
  try {
    const later = async (contestant: typeof program, request: RunRequest) => {
      const shell = { ...request, kind: 'shell', calls: CALLS } as const
      return median((await runOnce(contestant, model, shell)).tripsMs.slice(1))
    }
    const [answered, atOnce]: [number[], number[]] = [[], []]
    const [floors, taken]: [number[], number[]] = [[], []]
    await later(program, {})
    for (let round = 0; round < ROUNDS; round += 1) {
      answered.push(await later(program, { answerMs: ANSWER_MS }))
      floors.push(await later(bareTurn, { answerMs: ANSWER_MS }))
      atOnce.push(await later(program, {}))
      for (let each = 0; each < CALLS; each += 1) taken.push(await timed(take))
    }
    const snapshots_ms = 2 * median(taken)
    const floor_ms = median(floors)
    const ms = median(answered)
    tell({
      bench:
        'command-turn: a command over HTTP, without its snapshots, relative to 25 ms or 3 bare ones',
      ratio: (ms - snapshots_ms) / Math.max(25, 3 * floor_ms),
      bar: '<= 1',
      more: { ms, snapshots_ms, answered_at_once_ms: median(atOnce), floor_ms },
    })
  } finally {
    model.close()
  }
})
