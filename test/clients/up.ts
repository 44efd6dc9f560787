import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { textOf } from '../support/npm/process.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/hawser.cjs', import.meta.url))

export interface UpProcess {
  readonly origin: string
  /** Stops the server as a person would. */
  stop(): Promise<void>
}

/** Starts the built program as `hawser up`, with the rehearsal provider unless another is given. Killed if it does not start in time. */
export async function startUp(
  folder: string,
  home: string,
  env: Readonly<Record<string, string>> = { HAWSER_PROVIDER: 'rehearsal' },
): Promise<UpProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'up', '--json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HAWSER_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
  const ended = once(child, 'close')
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
  while (!stdout().includes('\n')) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`hawser up did not start: ${stderr()}`)
    }
    await Promise.race([once(child.stdout, 'data'), ended])
  }
  clearTimeout(late)
  const { origin } = JSON.parse(stdout()) as { origin: string }
  return {
    origin,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      if (child.exitCode !== 0) throw new Error(`hawser up ended with ${child.exitCode}`)
    },
  }
}
