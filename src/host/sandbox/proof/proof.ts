import { randomBytes } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { userHome } from '../../machine.ts'
import { removeAbandonedFolders, temporaryFolder } from '../../process/temporary-folder.ts'
import { PROBE } from './probe.ts'
import { keyringProgram } from '../bubblewrap/raw-program.ts'
import type { FilteredMachine } from '../bubblewrap/seccomp.ts'

/** A run in the sandbox that is to be proven, around folders made for it. */
export interface ProbeOrder {
  readonly workspace: string
  readonly hawserHome: string
  /** As if it were ours. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly argv: readonly string[]
}

export type ProbedRun = (order: ProbeOrder) => Promise<string>

/**
 * Tries, from inside, what a sandbox must make impossible. `undefined` when nothing succeeded, else what did, in words for
 * people. What `run` throws goes on: then there is no sandbox to speak of.
 */
export async function weaknessOf(
  machine: FilteredMachine,
  run: ProbedRun,
): Promise<string | undefined> {
  const scene = await setScene()
  try {
    const { workspace, hawserHome, attempts } = scene
    const env = { ...process.env, ANTHROPIC_API_KEY: attempts.canary }
    const keyring = keyringProgram(machine).toString('base64')
    const argv = [process.execPath, '-e', PROBE, JSON.stringify({ ...attempts, keyring })]
    const output = await run({ workspace, hawserHome, env, argv })
    return judge(output, await existing(attempts.write))
  } finally {
    await scene.clear()
  }
}

/** Whether a program there has no powers and gets none, by what it sees of itself. */
export async function powerlessIn(run: ProbedRun): Promise<boolean> {
  const scene = await setScene()
  try {
    const { workspace, hawserHome } = scene
    const argv = ['/bin/cat', '/proc/self/status']
    const status = await run({ workspace, hawserHome, env: process.env, argv })
    return /^CapEff:\s*0+$/m.test(status) && /^NoNewPrivs:\s*1$/m.test(status)
  } finally {
    await scene.clear()
  }
}

/** Each list holds what should have been impossible. */
const Found = z.object({
  works: z.boolean(),
  capabilities: z.array(z.string()),
  mayGainPowers: z.boolean(),
  filtered: z.boolean(),
  leavesSetId: z.boolean(),
  usesKeyrings: z.boolean(),
  changed: z.array(z.string()),
  reached: z.array(z.string()),
  canaries: z.array(z.string()),
})

function judge(output: string, wrote: readonly string[]): string | undefined {
  const found = Found.safeParse(parsed(output))
  if (!found.success) return `the test in it did not run: ${output.trim().split('\n')[0]}`
  const { works, capabilities, mayGainPowers, changed, reached, canaries } = found.data
  const { filtered, leavesSetId, usesKeyrings } = found.data
  const said = [
    ...(works ? [] : ['it cannot write the workspace']),
    ...capabilities.map((name) => `it leaves powers (${name})`),
    ...(mayGainPowers ? ['it lets powers be gained'] : []),
    ...(filtered ? [] : ['it filters no system calls']),
    ...(leavesSetId ? ['it lets set-id files be made'] : []),
    ...(usesKeyrings ? ['it lets keyrings be used'] : []),
    ...[...wrote, ...changed].map((path) => `it lets ${path} be written`),
    ...reached.map((what) => `it lets ${what} be reached`),
    ...canaries.map((where) => `it lets a key be found in ${where}`),
  ]
  return said.length === 0 ? undefined : said.join('; ')
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(
    paths.map((path) =>
      lstat(path).then(
        () => [path],
        () => [],
      ),
    ),
  )
  return there.flat()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface ProofScene {
  readonly workspace: string
  readonly hawserHome: string
  readonly attempts: Attempts
  clear(): Promise<void>
}

interface Attempts {
  readonly canary: string
  readonly work: string
  /** Files to make. */
  readonly write: readonly string[]
  /** Files of the system to open for change; none is changed. */
  readonly change: readonly string[]
  readonly read: readonly string[]
  readonly sockets: readonly string[]
  readonly port: number
}

/**
 * A workspace with a home and a `.hawser` in it, a folder beside it, a key and a socket in each of them, a listener on the
 * network, and a process that knows the key. The home lies where only its being hidden keeps anyone out.
 */
async function setScene(): Promise<ProofScene> {
  const [workspace, outside] = await Promise.all([freshFolder(), freshFolder()])
  const hawserHome = join(workspace, 'home')
  const hidden = [hawserHome, join(workspace, '.hawser')]
  await Promise.all(hidden.map((folder) => mkdir(folder, { mode: 0o700 })))
  const closed = [...hidden, outside]
  const canary = randomBytes(16).toString('hex')
  const read = closed.map((folder) => join(folder, 'key'))
  await Promise.all(read.map((path) => writeFile(path, canary, { mode: 0o600 })))
  const sockets = closed.map((folder) => join(folder, 's'))
  const network = await listening({ host: '127.0.0.1', port: 0 })
  const servers = [network, ...(await Promise.all(sockets.map((path) => listening({ path }))))]
  const neighbour = await startNeighbour(canary)
  const address = network.address()
  const attempts: Attempts = {
    canary,
    work: join(workspace, 'note'),
    write: ['/', '/etc', '/usr', '/var', userHome() ?? '/', ...closed].map((folder) =>
      join(folder, `.hawser-${canary.slice(0, 8)}`),
    ),
    change: ['/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger'],
    read,
    sockets,
    port: typeof address === 'object' && address !== null ? address.port : 0,
  }
  const clear = async () => {
    neighbour.kill('SIGKILL')
    for (const server of servers) server.close()
    const made = [workspace, outside, ...attempts.write]
    // What was not made is not there, or not even ours to look for.
    await Promise.allSettled(made.map((path) => rm(path, { recursive: true, force: true })))
  }
  return { workspace, hawserHome, attempts, clear }
}

/** Removes what self-tests of killed processes left. */
export async function clearAbandonedScenes(): Promise<void> {
  const folders = new Set([tmpdir(), sceneParent()])
  await Promise.all([...folders].map((folder) => removeAbandonedFolders(folder)))
}

/** The path of a socket must be short. */
const LONGEST_FOLDER = 50

function sceneParent(): string {
  return tmpdir().length > LONGEST_FOLDER ? '/tmp' : tmpdir()
}

async function freshFolder(): Promise<string> {
  return realpath(await temporaryFolder('proof', sceneParent()))
}

async function listening(
  where: { path: string } | { host: string; port: number },
): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, resolve)
  })
  return server
}

/** Another program of the same person, with a key in its environment. It ends when nothing more can come on its stdin. */
async function startNeighbour(canary: string): Promise<ChildProcess> {
  const env = { PATH: '/usr/bin:/bin', ANTHROPIC_API_KEY: canary }
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  const child = spawn('/bin/cat', [], { cwd: '/', env, stdio: [...stdio] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject)
  })
  return child
}
