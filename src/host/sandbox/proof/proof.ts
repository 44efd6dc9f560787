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
import { NOT_REFUSED, refusedCallsProgram } from '../bubblewrap/raw-program.ts'
import type { FilteredMachine } from '../bubblewrap/seccomp.ts'

/** A run in the sandbox under test, in folders created for it. */
export interface ProbeOrder {
  readonly workspace: string
  readonly hawserHome: string
  /** Used as if it were the environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly argv: readonly string[]
}

export type ProbedRun = (order: ProbeOrder) => Promise<string>

/**
 * Tries, from inside, what a sandbox must prevent. Returns `undefined` when every attempt failed, else a description of
 * those that succeeded. Errors of `run` propagate: then no sandbox could be started.
 */
export async function weaknessOf(
  machine: FilteredMachine,
  run: ProbedRun,
): Promise<string | undefined> {
  const scene = await setScene()
  try {
    const { workspace, hawserHome, attempts } = scene
    const env = { ...process.env, ANTHROPIC_API_KEY: attempts.canary }
    const refused = refusedCallsProgram(machine).toString('base64')
    const argv = [process.execPath, '-e', PROBE, JSON.stringify({ ...attempts, refused })]
    const output = await run({ workspace, hawserHome, env, argv })
    return judge(output, await existingPaths(attempts.write))
  } finally {
    await scene.clear()
  }
}

/** Whether a program there has no capabilities and cannot gain any, according to its /proc status. */
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

/** Each list contains attempts that should have failed. */
const ProbeResult = z.object({
  works: z.boolean(),
  capabilities: z.array(z.string()),
  mayGainPowers: z.boolean(),
  filtered: z.boolean(),
  leavesSetId: z.boolean(),
  /** The status of `refusedCallsProgram`. */
  notRefused: z.int().nullable(),
  changed: z.array(z.string()),
  reached: z.array(z.string()),
  canaries: z.array(z.string()),
})

function judge(output: string, wrote: readonly string[]): string | undefined {
  const found = ProbeResult.safeParse(parseJson(output))
  if (!found.success) return `the self-test did not run inside it: ${output.trim().split('\n')[0]}`
  const { works, capabilities, mayGainPowers, changed, reached, canaries } = found.data
  const { filtered, leavesSetId, notRefused } = found.data
  const weaknesses = [
    ...(works ? [] : ['programs cannot write to the workspace']),
    ...capabilities.map((name) => `programs keep capabilities (${name})`),
    ...(mayGainPowers ? ['programs can gain capabilities'] : []),
    ...(filtered ? [] : ['it does not filter system calls']),
    ...(leavesSetId ? ['programs can create set-id files'] : []),
    ...callsOf(notRefused),
    ...[...wrote, ...changed].map((path) => `programs can write ${path}`),
    ...reached.map((what) => `programs can reach ${what}`),
    ...canaries.map((where) => `programs can read a key in ${where}`),
  ]
  return weaknesses.length === 0 ? undefined : weaknesses.join('; ')
}

/** Why a status of `refusedCallsProgram` is a weakness. */
function callsOf(status: number | null): readonly string[] {
  const { keyring, socket } = NOT_REFUSED
  if (status === null || status > keyring + socket)
    return ['refused system calls could not be tried']
  return [
    ...((status & keyring) === 0 ? [] : ['programs can use keyrings']),
    ...((status & socket) === 0 ? [] : ['programs can open sockets past the network namespace']),
  ]
}

async function existingPaths(paths: readonly string[]): Promise<readonly string[]> {
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

function parseJson(text: string): unknown {
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
  /** Files to create. */
  readonly write: readonly string[]
  /** System files to open for writing; none is changed. */
  readonly change: readonly string[]
  readonly read: readonly string[]
  readonly sockets: readonly string[]
  readonly port: number
}

/**
 * A workspace that contains a home, a `.hawser` and another one in a subfolder, and a folder beside it, each with a key and a
 * socket; a network listener; and a process that has the key in its environment. Nothing but the hidden mount protects the home, since it lies in the
 * workspace.
 */
async function setScene(): Promise<ProofScene> {
  const [workspace, outside] = await Promise.all([freshFolder(), freshFolder()])
  const hawserHome = join(workspace, 'home')
  const hidden = [hawserHome, join(workspace, '.hawser'), join(workspace, 'sub', '.hawser')]
  await Promise.all(hidden.map((folder) => mkdir(folder, { mode: 0o700, recursive: true })))
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
    // Files that were never created are missing, and some folders are not accessible.
    await Promise.allSettled(made.map((path) => rm(path, { recursive: true, force: true })))
  }
  return { workspace, hawserHome, attempts, clear }
}

/** Removes folders that self-tests of killed processes left behind. */
export async function clearAbandonedScenes(): Promise<void> {
  const folders = new Set([tmpdir(), sceneParent()])
  await Promise.all([...folders].map((folder) => removeAbandonedFolders(folder)))
}

/** Socket paths are limited to about 100 bytes. */
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

/** Another program of the same user, with a key in its environment. It ends when its stdin closes. */
async function startNeighbour(canary: string): Promise<ChildProcess> {
  const env = { PATH: '/usr/bin:/bin', ANTHROPIC_API_KEY: canary }
  const stdio = ['pipe', 'ignore', 'ignore'] as const
  const child = spawn('/bin/cat', [], { cwd: '/', env, stdio: [...stdio] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve).once('error', reject)
  })
  return child
}
