// A short command in a workspace of 100 files, in a sandbox that was prepared while the model answered and in a new one, with the
// inspection before and after; over HTTP in the Turn of the program, with the snapshots before and after counted apart; and the first
// command of other processes, with their self-test. Floors: a bare `bash -c` from the same loop, and from a Turn in plain Node.
import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import * as z from 'zod'
import { systemClock } from '../src/host/clock.ts'
import { systemIds } from '../src/host/ids.ts'
import { systemSandbox } from '../src/host/sandbox/sandbox.ts'
import { workspaceSnapshots } from '../src/host/snapshots/snapshots.ts'
import { rootPaths } from '../src/model/safety/protected-paths.ts'
import { bundled } from './bundled.ts'
import { full, median, medianRatio, tell, tellSkipped, timed } from './figure.ts'
import { floor as plainTurn } from './peers/floor.ts'
import { startModel } from './peers/model.ts'
import { own } from './peers/own.ts'
import { quartersFor } from './peers/quarters.ts'
import { runOnce, type RunRequest } from './peers/run.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 100 : 10
const FILES = 100
/** Short for a model, and longer than a sandbox needs to start. */
const ANSWER_MS = 100
const CALLS = 10
const ARGV = ['/bin/bash', '-c', 'echo hi'] as const
const sandbox = systemSandbox()
const FirstCommand = z.object({ selfTestMs: z.number(), commandMs: z.number() })
type FirstCommand = z.infer<typeof FirstCommand>

await inScratch(async (folder) => {
  const status = await sandbox.status()
  if (!status.isConfined) return tellSkipped('command', status.why)
  const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
  for (const one of [workspace, home]) await mkdir(one)
  for (let at = 0; at < FILES; at += 1) await writeFile(join(workspace, `f${at}`), '')
  const place = {
    workspace,
    home,
    writable: 'workspace',
    protectedPaths: rootPaths('asks'),
  } as const
  const run = async () => {
    const signal = new AbortController().signal
    const ran = await sandbox.runConfined(place)({
      argv: ARGV,
      wallMs: 60_000,
      signal,
      onOutput: () => {},
    })
    if (!ran.ok) throw new Error(ran.error.message)
  }
  const [ready, fresh, floor]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    const ahead = sandbox.prepare?.(place, {})
    await ahead?.waits()
    ready.push(await timed(run))
    floor.push(await timed(bare))
    fresh.push(await timed(run))
  }
  const floor_ms = median(floor)
  // At most 25 ms or three times the floor, whichever is larger.
  const most_ms = Math.max(25, 3 * floor_ms)
  const told = { floor_ms, to_floor: medianRatio(ready, floor) }
  tell({
    bench: 'command: in a prepared sandbox, relative to 25 ms or 3 bare commands',
    ratio: median(ready) / most_ms,
    bar: '<= 1',
    more: { ms: median(ready), ...told },
  })
  tell({
    bench: 'command: in a new sandbox, relative to 50 ms or 6 bare commands',
    ratio: median(fresh) / (2 * most_ms),
    bar: '<= 1',
    more: { ms: median(fresh), floor_ms, to_floor: medianRatio(fresh, floor) },
  })
  const program = await bundled('command.worker.ts', folder)
  const firsts: FirstCommand[] = []
  for (let round = 0; round < ROUNDS / 5; round += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, [program, workspace, home])
    firsts.push(FirstCommand.parse(JSON.parse(stdout)))
  }
  const self_test_ms = median(firsts.map(({ selfTestMs }) => selfTestMs))
  const ms = median(firsts.map(({ commandMs }) => commandMs))
  tell({
    bench:
      'command: the first of a process after its self-test, relative to 50 ms or 6 bare commands',
    ratio: ms / (2 * most_ms),
    bar: '<= 1',
    more: { ms, self_test_ms, floor_ms },
  })
  await tellTurns(folder)
})

async function bare(): Promise<void> {
  const [file, ...args] = ARGV
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  await new Promise<void>((resolve) => void child.once('close', () => resolve()))
}

/** From an answer of the model until the request with the result: of the program, and of a Turn in plain Node. */
async function tellTurns(folder: string): Promise<void> {
  const quarters = await quartersFor('hawser', folder)
  const [program, bareTurn] = [
    await own(quarters),
    await plainTurn(await quartersFor('floor', folder)),
  ]
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
    for (let round = 0; round < ROUNDS / 10; round += 1) {
      answered.push(await later(program, { answerMs: ANSWER_MS }))
      floors.push(await later(bareTurn, { answerMs: ANSWER_MS }))
      atOnce.push(await later(program, {}))
      for (let each = 0; each < CALLS; each += 1) taken.push(await timed(take))
    }
    const snapshots_ms = 2 * median(taken)
    const floor_ms = median(floors)
    const ms = median(answered)
    tell({
      bench: `command: in a Turn over HTTP, without its snapshots, relative to 25 ms or 3 bare commands`,
      ratio: (ms - snapshots_ms) / Math.max(25, 3 * floor_ms),
      bar: '<= 1',
      more: { ms, snapshots_ms, answered_at_once_ms: median(atOnce), floor_ms },
    })
  } finally {
    model.close()
  }
}
