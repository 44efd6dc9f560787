import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { composeInstances } from '../../../src/compose/instances.ts'
import { composeWorkspace } from '../../../src/compose/workspace.ts'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import type { RunningServer } from '../../../src/host/server/running-server.ts'
import { systemIds } from '../../../src/host/ids.ts'
import type { ProgramFiles } from '../../../src/host/process/own-program.ts'
import { serveHarness, type ServerWorld } from '../../../src/presenters/http/serve.ts'
import { lazyGateway } from '../../../src/presenters/telegram/lazy-gateway.ts'
import { lazyMcpHandler } from '../../../src/presenters/mcp/lazy-handler.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { freshFolder } from '../host/folder.ts'
import { startProgram } from '../cli/program.ts'

/** A local server, in this process or another. */
export interface ServedPlace {
  readonly origin: string
  readonly token: string
  /** Contains `home` and `workspace`. */
  readonly root: string
  readonly workspace: string
  /** A request with the token; a body that is not bytes is sent as JSON. */
  readonly api: (method: string, path: string, body?: unknown) => Promise<ApiAnswer>
}

export interface LocalServer extends ServedPlace {
  readonly port: number
  readonly running: RunningServer
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body; its text if it is not JSON. */
  readonly body: unknown
}

export interface LocalServerOptions {
  readonly root?: string
  readonly env?: Readonly<Record<string, string>>
  /** Of the server; Sessions use the clock of the machine. */
  readonly clock?: Clock
  /** The folder of the built app. Default: none. */
  readonly app?: string
  /** The program of guests; see `guestProgram`. */
  readonly program?: ProgramFiles
  /** Instances to use instead. */
  readonly openTether?: ServerWorld['openTether']
}

/** The local server in this process, on any free port, with the parts of the program. Stopped at the end of the test. */
export async function localServer(given: LocalServerOptions = {}): Promise<LocalServer> {
  const root = given.root ?? (await freshFolder())
  const [home, workspace] = [join(root, 'home'), join(root, 'workspace')]
  await mkdir(workspace, { recursive: true })
  const env = given.env ?? { ANTHROPIC_API_KEY: CANARY_KEY, HAWSER_PROVIDER: 'rehearsal' }
  const version = '0.0.0-test'
  const { clock = systemClock, program } = given
  const ids = systemIds(systemClock)
  const serving = await serveHarness(
    {
      home,
      version,
      appFolder: given.app ?? join(root, 'no-app'),
      env,
      clock,
      ids,
      open: (path, options = {}) =>
        composeWorkspace(path, home, { ...options, presenter: 'http', env, version }),
      models: async () => ({ asOf: '2026-01-31', models: [], references: {} }),
      mcp: (parts) => lazyMcpHandler({ ...parts, version, clock, ids }),
      openTelegram: (parts) => lazyGateway({ ...parts, clock, ids }),
      openTether:
        given.openTether ??
        ((folder, note) =>
          composeInstances({ home: folder, path: home, env, clock, ids, note, program })),
    },
    { port: 0 },
  )
  if (!serving.ok) throw new Error(serving.error.message)
  const running = serving.value
  onTestFinished(() => running.close())
  const { origin } = running.record
  return { ...(await servedPlace(root, origin)), port: Number(new URL(origin).port), running }
}

/** The local server as a process of its own. */
export interface ServerProgram extends ServedPlace {
  /** Kills it with SIGKILL, and resolves when it is gone. */
  readonly kill: () => Promise<void>
}

/** Starts the program with `up`. It is killed at the end of the test. */
export async function serverProgram(
  root: string,
  env: Readonly<Record<string, string>> = { HAWSER_PROVIDER: 'rehearsal' },
): Promise<ServerProgram> {
  await mkdir(join(root, 'workspace'), { recursive: true })
  const program = await startProgram({ root, env }, ['up', '--json'])
  await program.waitFor('}\n')
  const { origin } = JSON.parse(program.stdout()) as { origin: string }
  const kill = async () => {
    program.child.kill('SIGKILL')
    await program.ended
  }
  return { ...(await servedPlace(root, origin)), kill }
}

async function servedPlace(root: string, origin: string): Promise<ServedPlace> {
  const token = (await readFile(join(root, 'home', 'token'), 'utf8')).trim()
  const api: ServedPlace['api'] = async (method, path, body) => {
    const isRaw = body === undefined || body instanceof Uint8Array
    const answer = await fetch(origin + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isRaw ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isRaw ? new Uint8Array(body) : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
    const parsed: unknown = isJson ? JSON.parse(text) : text
    return { status: answer.status, headers: answer.headers, body: parsed }
  }
  return { origin, token, root, workspace: join(root, 'workspace'), api }
}
