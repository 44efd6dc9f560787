import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { systemClock } from '../../../src/host/clock.ts'
import { wait } from '../../../src/host/wait.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import type { random } from '../../support/host/random.ts'

/** How long after the self-test a process is killed at most: it prepares a few sandboxes in that time. */
const LAST_MS = 120
const POLL_MS = 5
const MOST_POLLS = 400

/** Kills a process that prepares sandboxes, at random, and returns what was left of them. */
export async function killPreparing(
  n: number,
  chance: ReturnType<typeof random>,
): Promise<readonly string[]> {
  const violations: string[] = []
  const scripts = await mkdtemp(join(tmpdir(), 'ready-kill-'))
  const script = await bundleScript(new URL('ready-kill-child.ts', import.meta.url), scripts)
  for (let round = 0; round < n; round += 1) {
    // Every other process keeps one that waits.
    const isKept = round % 2 === 0
    const folder = await mkdtemp(join(tmpdir(), 'ready-kill-'))
    const child = spawn(process.execPath, [script, folder, ...(isKept ? ['keep'] : [])], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    await printed(child.stdout, isKept ? 'waits' : 'proved')
    const ms = isKept ? 0 : chance.below(LAST_MS)
    await wait(systemClock, ms)
    // The process itself is one of them.
    if (isKept && withMark(folder) < 2) violations.push('the prepared sandbox was not seen')
    if (child.exitCode !== null) violations.push(`it ended by itself: ${child.exitCode}`)
    child.kill('SIGKILL')
    await exited
    const left = await leftWith(folder)
    if (left > 0) violations.push(`killed after ${ms} ms, ${left} run on`)
    await rm(folder, { recursive: true, force: true })
  }
  await rm(scripts, { recursive: true, force: true })
  return violations
}

async function printed(stdout: Readable, word: string): Promise<void> {
  let text = ''
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    if (text.includes(word)) return
  }
}

/** How many processes with this argument are left: the kernel needs a moment to end them. */
async function leftWith(mark: string): Promise<number> {
  for (let polls = 0; polls < MOST_POLLS && withMark(mark) > 0; polls += 1)
    await wait(systemClock, POLL_MS)
  return withMark(mark)
}

/** Bubblewrap has the workspace among its arguments, and what it started among its mounts. */
function withMark(mark: string): number {
  return readdirSync('/proc').filter(
    (name) =>
      /^\d+$/.test(name) &&
      Number(name) !== process.pid &&
      ['cmdline', 'mountinfo'].some((file) => textOf(`/proc/${name}/${file}`).includes(mark)),
  ).length
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}
