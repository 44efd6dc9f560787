import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { textOf } from '../support/npm/process.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/hawser.cjs', import.meta.url))
const START_MS = 30_000

/** An answered request, as the server records it on standard error. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly status: string
}

export interface RehearseProcess {
  readonly origin: string
  /** Stops the server, and returns the requests that it recorded. */
  stop(): Promise<readonly Recorded[]>
}

/** Starts the built program as `hawser rehearse`, with its own home. */
export async function startRehearse(home: string): Promise<RehearseProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'rehearse'], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home, HAWSER_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
  const ended = once(child, 'close')
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS)
  let origin: string | undefined
  while (origin === undefined) {
    origin = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(stdout())?.[1]
    if (origin !== undefined) break
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`hawser rehearse did not start: ${stderr()}`)
    }
    await Promise.race([once(child.stdout, 'data'), ended])
  }
  clearTimeout(late)
  return {
    origin,
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      if (child.exitCode !== 0) throw new Error(`hawser rehearse ended with ${child.exitCode}`)
      return recordsIn(stderr())
    },
  }
}

function recordsIn(text: string): Recorded[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [method = '', path = '', ...status] = line.split(' ')
      return { method, path, status: status.join(' ') }
    })
}
