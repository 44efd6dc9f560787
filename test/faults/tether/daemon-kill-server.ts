import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpFailure, httpFetch, type Fetch } from '../../../src/host/net/http.ts'
import { guestProgram } from '../../support/cli/guest-bundle.ts'
import { kinPids } from '../../support/host/kin-traces.ts'

interface Running {
  readonly child: ChildProcess
  /** Resolves when it has announced itself; false if it exits before. */
  readonly ready: Promise<boolean>
  readonly exited: Promise<void>
}

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** `hawser up` as a process of its own, which is killed and started again over the same home. */
export class KilledServer {
  readonly home: string
  readonly workspace: string
  readonly #fetch: Fetch
  #running: Running | undefined
  #token = ''
  /** What it printed on standard error. */
  complaint = ''

  constructor(root: string) {
    this.home = join(root, 'home')
    this.workspace = join(root, 'workspace')
    this.#fetch = httpFetch({ socket: join(this.home, 'hawserd.sock') })
  }

  get pid(): number {
    return this.#running?.child.pid ?? 0
  }

  /** It has not exited. */
  get isAlive(): boolean {
    return this.#running !== undefined && this.#running.child.exitCode === null
  }

  /** Starts the process. Resolves as soon as it exists. */
  async start(): Promise<void> {
    const { argv } = await guestProgram()
    const [node, ...script] = argv
    const child = spawn(node, [...script, 'up', '--json'], {
      cwd: this.workspace,
      env: {
        PATH: process.env['PATH'],
        HAWSER_HOME: this.home,
        HAWSER_PROVIDER: 'rehearsal',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.complaint += text))
    const exited = new Promise<void>((resolve) => void child.once('close', () => resolve()))
    const printed = new Promise<boolean>((resolve) => {
      child.stdout.once('data', (line: Buffer) => resolve(line.includes('"origin"')))
    })
    this.#running = { child, exited, ready: Promise.race([printed, exited.then(() => false)]) }
  }

  /** Resolves when it accepts requests; false if it exited. */
  async ready(): Promise<boolean> {
    const isReady = (await this.#running?.ready) === true
    if (isReady) this.#token = (await readFile(join(this.home, 'token'), 'utf8')).trim()
    return isReady
  }

  /** Ends it by a signal. Resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#running?.child.kill(signal)
    await this.#running?.exited
  }

  /** The processes of its guests: that of the program, and those of the sandbox around it. */
  guests(): number[] {
    return kinPids(this.pid).filter((pid) => argumentsOf(pid).at(-1) === 'guest')
  }

  /** A response, or `undefined` if the connection failed. */
  async response(
    method: 'GET' | 'POST',
    path: string,
    { body, headers, signal }: RequestParts = {},
  ): Promise<Response | undefined> {
    try {
      return await this.#fetch(`http://hawser/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      return lost(error, signal)
    }
  }

  /** A response with its JSON, or `undefined` if the connection failed before its end. */
  async call(
    method: 'GET' | 'POST',
    path: string,
    parts: RequestParts = {},
  ): Promise<Answer | undefined> {
    const response = await this.response(method, path, parts)
    if (response === undefined) return undefined
    try {
      return { status: response.status, body: await response.json() }
    } catch (error) {
      return lost(error, parts.signal)
    }
  }
}

export interface RequestParts {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A connection that broke is expected; anything else is a defect of the test. A body that was cut is not JSON. */
export function lost(error: unknown, signal?: AbortSignal): undefined {
  const isExpected = error instanceof HttpFailure || error instanceof SyntaxError
  if (!isExpected && signal?.aborted !== true) throw error
}

/** Processes that have this text among their arguments. */
export function processesOf(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && argumentsOf(pid).some((one) => one.includes(text)))
}

function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return []
  }
}
