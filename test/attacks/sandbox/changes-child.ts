import { readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { systemSandbox, type Confinement } from '../../../src/host/sandbox/sandbox.ts'
import { CHANGES, type Change } from './sandbox-changes.ts'
import type { Verdict } from './attack.ts'

/** A child process that changes something between preparing a sandbox and its command, and reports what the command reached. */
const [, , root = ''] = process.argv
const sandbox = systemSandbox()
for (const [at, change] of CHANGES.entries()) {
  const through = await attempt(at, change).catch((error: unknown) => `it broke: ${String(error)}`)
  const verdict: Verdict = {
    row: 0,
    name: change.name,
    ...(through === undefined ? {} : { through }),
  }
  console.log(JSON.stringify(verdict))
}

async function attempt(at: number, change: Change): Promise<string | undefined> {
  const folder = join(root, `change-${at}`)
  const [workspace, home, shown] = ['ws', 'home', 'shown'].map((name) => join(folder, name))
  if (workspace === undefined || home === undefined || shown === undefined) throw new Error()
  for (const one of [workspace, home, shown, join(workspace, 'sub'), join(workspace, '.hawser')])
    await mkdir(one, { recursive: true, mode: 0o700 })
  await writeFile(join(workspace, '.hawser/key'), 'SECRET')
  await writeFile(join(workspace, 'AGENTS.md'), 'kept')
  const place: Confinement = {
    workspace,
    home,
    writable: 'workspace',
    protectedPaths: ['AGENTS.md', '.mcp.json'],
    readable: [shown],
  }
  const ahead = sandbox.prepare?.(place, {})
  if ((await ahead?.waits()) !== true) return 'nothing was prepared'
  const tools = { mkdir, rename, rm, symlink, writeFile, listen, join }
  const other = (await change.make({ workspace, shown, folder }, tools)) ?? {}
  const ticks = Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 100)
  let output = ''
  const ran = await sandbox.runConfined({ ...place, ...other })({
    argv: ['/bin/bash', '-c', `cut -d' ' -f22 /proc/1/stat\n${change.script}`],
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void (output += chunk.toString()),
  })
  await ahead?.end()
  if (!ran.ok) return change.refused === true ? undefined : ran.error.message
  const [started = '', ...rest] = output.split('\n')
  const isEarlier = Number(started) < ticks
  if (change.used === true && Number(started) > ticks) return 'the prepared sandbox was not used'
  if (change.used !== true && isEarlier) return 'the prepared sandbox was used'
  const said = rest.join('\n').trim()
  if (said !== change.says) return `it printed ${JSON.stringify(said)}`
  const kept = await readFile(join(workspace, 'AGENTS.md'), 'utf8').catch(() => 'kept')
  return kept === 'kept' ? undefined : `AGENTS.md is ${kept}`
}

async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy()).unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve)
  })
}
