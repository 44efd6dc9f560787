import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusedCallsProgram } from '../../../src/host/sandbox/bubblewrap/raw-program.ts'
import { isFilteredMachine } from '../../../src/host/sandbox/bubblewrap/seccomp.ts'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { perlFor } from './mode-calls.ts'
import { INTERRUPT_CALLS, RING_WAYS, SOCKET_WAYS, socketByInterrupt } from './socket-calls.ts'

/**
 * A child process whose programs ask, as its user, for sockets of every family: as a command, as a command with network
 * access, as a guest that is root of its own namespaces, and, as a control, in a sandbox without a filter. Nothing is
 * connected. For each it prints the output.
 */
const [, , root = ''] = process.argv
const home = join(root, 'home')
mkdirSync(home, { mode: 0o700 })
const sandbox = systemSandbox()
const bwrap = (await systemProgram('bwrap')) ?? 'bwrap'

type Way = 'command' | 'network' | 'guest' | 'control'

async function run(way: Way, workspace: string, argv: readonly string[]): Promise<string> {
  if (way === 'control') return withoutFilter(workspace, argv)
  const chunks: Buffer[] = []
  const place = { workspace, home, writable: 'workspace', protectedPaths: [] } as const
  const ran = await sandbox.runConfined({ ...place, guest: way === 'guest' })({
    argv: way === 'guest' ? ['/usr/bin/unshare', '-Urn', ...argv] : argv,
    network: way === 'network',
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void chunks.push(chunk),
  })
  return ran.ok ? Buffer.concat(chunks).toString() : ran.error.message
}

/** The sandbox without its filter, as far as relevant here. */
function withoutFilter(workspace: string, argv: readonly string[]): string {
  const user = process.getuid?.() === 0 ? ['--uid', '1000', '--gid', '1000'] : []
  const namespaces = ['--unshare-user', '--unshare-pid', '--unshare-net', ...user]
  const flags = [...namespaces, '--cap-drop', 'ALL', '--die-with-parent']
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']
  const place = ['--bind', workspace, workspace, '--chdir', workspace]
  const env = { PATH: '/usr/bin:/bin' }
  const options = { encoding: 'utf8', env, maxBuffer: 16 * 1024 * 1024 } as const
  const { stdout, stderr } = spawnSync(bwrap, [...flags, ...mounts, ...place, ...argv], options)
  return stdout + stderr
}

const perl = (script: string) => ['/usr/bin/perl', '-e', perlFor(script)]
const shell = (script: string) => ['/bin/sh', '-c', script]

const CASES: Readonly<Record<string, readonly string[]>> = {
  families: perl(SOCKET_WAYS),
  rings: perl(RING_WAYS),
  interrupts: shell(INTERRUPT_CALLS.map((call) => `./${call}; echo "${call} $?"`).join('\n')),
  selfTest: shell('./refused; echo $?'),
}

for (const way of ['command', 'network', 'guest', 'control'] as const)
  for (const [name, argv] of Object.entries(CASES)) {
    const output = await run(way, prepared(`${way}-${name}`), argv)
    console.log(JSON.stringify({ way, name, output }))
  }

function prepared(name: string): string {
  const workspace = join(root, name)
  mkdirSync(workspace)
  for (const call of INTERRUPT_CALLS)
    writeFileSync(join(workspace, call), socketByInterrupt(call), { mode: 0o755 })
  if (isFilteredMachine(process.arch))
    writeFileSync(join(workspace, 'refused'), refusedCallsProgram(process.arch), { mode: 0o755 })
  return workspace
}
