import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { wait } from '../../../src/host/wait.ts'
import { random } from '../../support/host/random.ts'
import { value } from '../../support/log/story.ts'
import { runFault } from '../support/figure.ts'

const TEST = 'kill -9 of bubblewrap while it sets up the sandbox of a long-lived program'
const FULL = 300
const QUICK = 10
const LAST_MS = 60

await runFault(
  TEST,
  async () =>
    (await systemSandbox().status()).isConfined ? undefined : 'there is no sandbox here',
  async ({ seed, full }) => {
    const chance = random(seed)
    const folder = await mkdtemp(join(tmpdir(), 'sandbox-kill-'))
    const [workspace, home] = [join(folder, 'workspace'), join(folder, 'home')]
    await mkdir(workspace)
    await mkdir(home)
    const place = { workspace, home, writable: 'workspace', protectedPaths: [] } as const
    const sandbox = systemSandbox()
    const violations: string[] = []
    const n = full ? FULL : QUICK
    for (let round = 0; round < n; round += 1) {
      const mark = `mark-${process.pid}-${round}`
      const started = await sandbox.start(place, {
        argv: ['/bin/sh', '-c', 'sleep 1000; :', mark],
        descriptors: ['frames'],
        onOutput: () => {},
      })
      const { pid, ending } = value(started)
      const ms = chance.below(LAST_MS)
      await wait(systemClock, ms)
      process.kill(pid, 'SIGKILL')
      await ending
      const left = withMark(mark)
      if (left.length > 0) violations.push(`killed after ${ms} ms, ${left.length} run on`)
      for (const one of left) process.kill(one, 'SIGKILL')
    }
    await rm(folder, { recursive: true })
    return [{ test: TEST, n, violations }]
  },
)

/** The processes with this argument. */
function withMark(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && argumentsOf(name).includes(mark))
    .map(Number)
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
