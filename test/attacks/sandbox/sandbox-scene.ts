import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import {
  systemSandbox,
  type ConfinedCommand,
  type Confinement,
  type Exit,
  type Sandbox,
} from '../../../src/host/sandbox/sandbox.ts'
import { ok, type Result } from '../../../src/model/errors.ts'

/** What an attack would find, and must not. */
export const CANARY = 'canary-5b1f0c4e9d7a'

/** A small model of a person's machine: files, keys, servers, and a workspace. All created by the attacked user. */
export interface Scene {
  readonly sandbox: Sandbox
  /** A folder that sandboxed programs see and this user can write to. */
  readonly root: string
  readonly outside: string
  readonly hawserHome: string
  readonly port: number
  readonly abstractName: string
  /** A new workspace with a repository, an AGENTS.md and a `.hawser`. */
  workspace(folder?: string): Promise<Ground>
  /** Restores what a successful attack changed outside, so that the next one is judged alone. */
  restore(): Promise<void>
  clear(): Promise<void>
}

export interface Seen {
  readonly output: string
  readonly result: Result<Exit>
  readonly appeared: readonly string[]
  readonly code: number | null | undefined
}

/** A workspace under attack. */
export interface Ground {
  readonly path: string
  /** What `keep` received, by path. */
  readonly kept: ReadonlyMap<string, string>
  /** Runs a bash script in the sandbox. Without `LC_ALL`, messages would depend on the machine. */
  sh(script: string, more?: Partial<ConfinedCommand>, how?: Partial<Confinement>): Promise<Seen>
  read(name: string): Promise<string | undefined>
}

const PROTECTED = ['AGENTS.md', 'CLAUDE.md', '.mcp.json', '.vscode', 'deep/er/file']

/** With `ready`, every command that suits one runs in a sandbox that was prepared before. */
export async function setScene(root: string, ready = false): Promise<Scene> {
  const [outside, hawserHome, person] = ['outside', 'home', 'person'].map((name) =>
    join(root, name),
  ) as [string, string, string]
  await makePerson(person)
  process.env['HOME'] = person
  process.env['ANTHROPIC_API_KEY'] = CANARY
  const restore = async () => {
    await mkdir(outside, { recursive: true })
    await rm(join(outside, 'new'), { force: true })
    await rm(join(person, '.profile'), { force: true })
    await writeFile(join(outside, 'target'), 'untouched\n')
    await writeFile(join(person, '.bashrc'), 'untouched\n')
  }
  await restore()
  await mkdir(hawserHome, { mode: 0o700 })
  await writeFile(join(hawserHome, 'config.json'), CANARY, { mode: 0o600 })
  const abstractName = `\0hawser-attack-${process.pid}`
  const network = await listen({ host: '127.0.0.1', port: 0 })
  const servers = [
    network,
    await listen({ path: join(hawserHome, 'hawserd.sock') }),
    await listen({ path: join(outside, 'agent.sock') }),
    await listen({ path: abstractName }),
  ]
  const neighbour = spawn('sleep', ['86400'], { env: { PATH: '/usr/bin:/bin', KEY: CANARY } })
  process.on('exit', () => neighbour.kill('SIGKILL'))
  const address = network.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const sandbox = systemSandbox()
  let made = 0
  return {
    sandbox,
    root,
    outside,
    hawserHome,
    port,
    abstractName,
    workspace: (folder = join(root, `ws-${made++}`)) =>
      makeGround(sandbox, folder, hawserHome, ready),
    restore,
    clear: async () => {
      neighbour.kill('SIGKILL')
      for (const server of servers) server.close()
    },
  }
}

async function makePerson(person: string): Promise<void> {
  const files = [
    '.ssh/id_ed25519',
    '.aws/credentials',
    '.gnupg/key',
    '.netrc',
    '.npmrc',
    '.kube/config',
  ]
  for (const name of files) {
    await mkdir(join(person, name, '..'), { recursive: true })
    await writeFile(join(person, name), CANARY)
  }
  await writeFile(join(person, '.gitconfig'), '[user]\nname = P\nemail = p@example.org\n')
}

async function makeGround(
  sandbox: Sandbox,
  path: string,
  home: string,
  ready: boolean,
): Promise<Ground> {
  const files = {
    '.git/HEAD': 'ref: refs/heads/main\n',
    '.git/config': '[core]\n\trepositoryformatversion = 0\n\tbare = false\n',
    '.git/hooks/post-commit.sample': '',
    '.hawser/sessions/log': CANARY,
    'AGENTS.md': 'Be good.\n',
    'deep/er/file': 'kept\n',
    note: 'a\n',
  }
  for (const folder of ['.git/objects', '.git/refs'])
    await mkdir(join(path, folder), { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), content)
  }
  await chmod(join(path, '.hawser'), 0o700)
  const kept = new Map<string, string>()
  const base: Confinement = {
    workspace: path,
    home,
    writable: 'workspace',
    protectedPaths: PROTECTED,
    keep: async (name, content) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of content) chunks.push(chunk)
      kept.set(name, Buffer.concat(chunks).toString())
      return ok(undefined)
    },
  }
  return {
    path,
    kept,
    sh: async (script, more = {}, how = {}) => {
      const chunks: Buffer[] = []
      const place = { ...base, ...how }
      const ahead = ready ? sandbox.prepare?.(place, more) : undefined
      await ahead?.waits()
      const result = await sandbox.runConfined(place)({
        // A prepared sandbox takes no variables.
        argv: ['/bin/bash', '-c', ready ? `export LC_ALL=C\n${script}` : script],
        wallMs: 60_000,
        ...(ready ? {} : { env: { LC_ALL: 'C' } }),
        signal: new AbortController().signal,
        onOutput: (chunk) => void chunks.push(chunk),
        ...more,
      })
      await ahead?.end()
      const output = Buffer.concat(chunks).toString()
      const exit = result.ok ? result.value : undefined
      return { output, result, appeared: exit?.appearedPaths ?? [], code: exit?.code }
    },
    read: (name) => readFile(join(path, name), 'utf8').catch(() => undefined),
  }
}

async function listen(where: { path: string } | { host: string; port: number }): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(where, resolve)
  })
  return server
}

/** The number of processes on this machine with `words` in their command line. */
export function running(words: string): number {
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })
  return lines.filter((line) => line.includes(words)).length
}
