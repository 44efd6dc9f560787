import { join } from 'node:path'
import type { Output } from '../../../src/host/output.ts'
import type { Streams } from '../../../src/host/streams.ts'
import { main } from '../../../src/main.ts'
import { CANARY_KEY } from '../host/canary.ts'

export interface CliRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CliPlace {
  /** Contains `workspace`, the current folder of the user, and `home`. */
  readonly root: string
  readonly stdin?: string | Buffer
  /** The user's current folder, relative to the workspace. */
  readonly folder?: string
  /** The user presses Ctrl-C as soon as the program listens for it. */
  readonly interrupted?: boolean
  /** Standard output and error are terminals. */
  readonly terminal?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** Runs the program in this process as a script would; only `terminal` gives it a terminal. `<root>/workspace` must exist. */
export async function runCli(place: CliPlace, ...argv: readonly string[]): Promise<CliRun> {
  const { terminal = false } = place
  const [stdout, stderr] = [captured(terminal), captured(terminal)]
  const streams: Streams = {
    stdin: {
      isTTY: false,
      source: place.stdin === undefined ? 'other' : 'pipe',
      ready: async () => true,
      all: async (limit) => {
        const bytes = Buffer.from(place.stdin ?? '')
        return bytes.length > limit ? undefined : bytes
      },
      upTo: async (limit) => Buffer.from(place.stdin ?? '').subarray(0, limit),
      keys: () => () => {},
      interrupt: () => {},
    },
    stdout: stdout.output,
    stderr: stderr.output,
    onResize: () => () => {},
    onSignal: (signal, listener) => {
      if (place.interrupted === true && signal === 'SIGINT') setImmediate(listener)
      return () => {}
    },
  }
  const code = await main({
    argv,
    env: { HAWSER_HOME: join(place.root, 'home'), ...place.env },
    cwd: () => join(place.root, 'workspace', place.folder ?? ''),
    streams,
  })
  const run = { code, stdout: stdout.text(), stderr: stderr.text() }
  if (`${run.stdout}${run.stderr}`.includes(CANARY_KEY)) throw new Error('a key was printed')
  return run
}

function captured(isTTY: boolean): { readonly output: Output; readonly text: () => string } {
  let all = ''
  const output: Output = {
    isTTY,
    columns: 80,
    rows: 24,
    isBroken: false,
    failure: undefined,
    write: (text) => {
      all += text
    },
    flush: async () => {},
  }
  return { output, text: () => all }
}
