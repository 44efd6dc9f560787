import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { systemProgram } from '../../../src/host/process/system-program.ts'
import { MODE_WAYS, modes, perlFor, PROGRAM_WAYS } from './mode-calls.ts'
import { KEYRING_WAYS, OTHER_WAYS } from './leftover-calls.ts'
import { chmodByInterrupt } from './interrupt-program.ts'

/**
 * A child process whose programs try, as its user, to leave set-id bits, devices, capabilities and files of
 * other owners: in the sandbox and, as a control, in one without a filter. For each it prints the output and what is left. With
 * `every` as its second argument, all modes are tried.
 */
const [, , root = '', order] = process.argv
const home = join(root, 'home')
mkdirSync(home, { mode: 0o700 })
const isRoot = process.getuid?.() === 0
const sandbox = systemSandbox()
const bwrap = (await systemProgram('bwrap')) ?? 'bwrap'

type Run = (workspace: string, argv: readonly string[], guest: boolean) => Promise<string>

const inSandbox: Run = async (workspace, argv, guest) => {
  const chunks: Buffer[] = []
  const ran = await sandbox.runConfined({
    workspace,
    home,
    writable: 'workspace',
    protectedPaths: [],
    guest,
  })({
    argv,
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void chunks.push(chunk),
  })
  return ran.ok ? Buffer.concat(chunks).toString() : ran.error.message
}

/** The sandbox without its filter, as far as relevant here. */
const withoutFilter: Run = async (workspace, argv, guest) => {
  const user = isRoot ? ['--uid', '1000', '--gid', '1000'] : []
  const flags = ['--unshare-user', '--unshare-pid', '--cap-drop', 'ALL', '--die-with-parent']
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp']
  const place = ['--bind', workspace, workspace, '--chdir', workspace]
  const noUserNamespaces = guest ? [] : ['--disable-userns']
  const args = [...flags, ...user, ...noUserNamespaces, ...mounts, ...place, ...argv]
  const env = { PATH: '/usr/bin:/bin', TMPDIR: '/tmp' }
  const { stdout, stderr } = spawnSync(bwrap, args, { encoding: 'utf8', env })
  return stdout + stderr
}

const perl = (script: string, ...args: readonly string[]) => [
  '/usr/bin/perl',
  '-e',
  perlFor(script),
  '--',
  ...args,
]

const MODES = modes(order === 'every')
  .map((mode) => mode.toString(8))
  .join(',')

const CASES: Readonly<Record<string, readonly [readonly string[], boolean]>> = {
  modes: [perl(MODE_WAYS, MODES), false],
  programs: [['/bin/sh', '-c', PROGRAM_WAYS], false],
  interrupt: [['/bin/sh', '-c', 'touch victim; ./interrupt; echo "exit $?"'], false],
  uring: [
    perl(
      `my %n = NUMBERS; my $p = "\\0" x 120; print syscall($n{io_uring_setup}, 1, $p) < 0 ? $! + 0 : "opened"`,
    ),
    false,
  ],
  others: [perl(OTHER_WAYS), false],
  'others as a guest': [['/usr/bin/unshare', '-Ur', ...perl(OTHER_WAYS)], true],
  'modes as a guest': [['/usr/bin/unshare', '-Ur', ...perl(MODE_WAYS, MODES)], true],
  inheritance: [['/bin/sh', '-c', 'mkdir shared/sub && touch shared/file && echo done'], false],
}

for (const [way, run] of [
  ['sandbox', inSandbox],
  ['control', withoutFilter],
] as const) {
  for (const [name, [argv, guest]] of Object.entries(CASES)) {
    const workspace = prepared(`${way}-${name}`)
    const output = await run(workspace, argv, guest)
    report({ way, name, output, ...leftIn(workspace) })
  }
  const kinds = way === 'sandbox' ? [-8, -7, -6, -5, -4, -3, -2, -1] : [-3, -2, -1]
  const workspace = prepared(`${way}-keyrings`)
  const output = await run(workspace, perl(KEYRING_WAYS, ...kinds.map(String)), false)
  report({ way, name: 'keyrings', output, ...leftIn(workspace) })
}

/** With a set-group-id folder, an archive of set-id files, and a program of another ABI. */
function prepared(name: string): string {
  const workspace = join(root, name)
  mkdirSync(workspace)
  mkdirSync(join(workspace, 'shared'))
  const archive = ['-cf', join(workspace, 'archive.tar'), '--mode=6755', '-C', '/usr/bin', 'su']
  execFileSync('tar', archive)
  writeFileSync(join(workspace, 'interrupt'), chmodByInterrupt('victim'), { mode: 0o755 })
  execFileSync('chmod', ['2775', join(workspace, 'shared')])
  return workspace
}

/** Everything in a workspace that would matter outside, except the folder that was prepared so. */
function leftIn(workspace: string) {
  const shared = join(workspace, 'shared')
  const found = { setId: [] as string[], devices: [] as string[], foreign: [] as string[] }
  const capable: string[] = []
  const walk = (folder: string) => {
    for (const entry of listed(folder)) {
      const path = join(folder, entry)
      const facts = lstatSync(path)
      const name = path.slice(workspace.length + 1)
      if ((facts.mode & 0o6000) !== 0 && path !== shared) found.setId.push(name)
      if (facts.isBlockDevice() || facts.isCharacterDevice()) found.devices.push(name)
      if (facts.uid !== process.getuid?.() || facts.gid !== process.getgid?.()) {
        found.foreign.push(name)
      }
      if (facts.isFile() && name.startsWith('capable')) capable.push(path)
      if (facts.isDirectory()) walk(path)
    }
  }
  walk(workspace)
  return { ...found, capable: capable.length === 0 ? '' : capabilities(capable) }
}

/** Nothing if its owner may not read it: then it is empty, because nothing else here creates such folders. */
function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function capabilities(paths: readonly string[]): string {
  const script = `my %n = NUMBERS; my $a = 'security.capability'; for (@ARGV) { my ($p, $v) = ($_, "\\0" x 64); print "$p\\n" if syscall($n{getxattr}, $p, $a, $v, 64) > 0 }`
  return execFileSync('/usr/bin/perl', ['-e', perlFor(script), ...paths], { encoding: 'utf8' })
}

function report(fact: object): void {
  console.log(JSON.stringify(fact))
}
