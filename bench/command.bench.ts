// A short command in a workspace of 100 files, in a sandbox that was prepared while the model answered and in a new one, with the
// inspection before and after; and the first command of other processes, with their self-test. Floor: a bare `bash -c` from the same loop.
import { execFile, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import * as z from 'zod'
import { systemSandbox } from '../src/host/sandbox/sandbox.ts'
import { rootPaths } from '../src/model/safety/protected-paths.ts'
import { bundled } from './bundled.ts'
import { full, median, medianRatio, tell, tellSkipped, timed } from './figure.ts'
import { inScratch } from './scratch.ts'

const ROUNDS = full ? 100 : 10
const FILES = 100
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
})

async function bare(): Promise<void> {
  const [file, ...args] = ARGV
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.resume()
  child.stderr.resume()
  await new Promise<void>((resolve) => void child.once('close', () => resolve()))
}
