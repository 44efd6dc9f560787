import { access, chmod, constants, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import {
  systemSandbox,
  type ConfinedCommand,
  type ConfinedRun,
  type Confinement,
  type Sandbox,
} from './sandbox.ts'
import { systemProgram } from '../process/system-program.ts'
import { isFilteredMachine, seccompFilter, SOCKET, SOCKETPAIR } from './bubblewrap/seccomp.ts'

const system = systemSandbox()
const { isConfined } = await system.status()
const BWRAP = (await systemProgram('bwrap')) ?? '/nowhere'

async function place(): Promise<Confinement> {
  const [workspace, home] = [await freshFolder(), await freshFolder()]
  return { workspace, home, writable: 'workspace', protectedPaths: ['AGENTS.md'] }
}

async function runAndCollect(
  run: ConfinedRun,
  argv: readonly string[],
  more: Partial<ConfinedCommand> = {},
) {
  const chunks: Buffer[] = []
  const result = await run({
    argv,
    wallMs: 60_000,
    signal: new AbortController().signal,
    onOutput: (chunk) => void chunks.push(chunk),
    ...more,
  })
  const output = Buffer.concat(chunks).toString()
  return result.ok ? { output, ...result.value, durationMs: 0 } : result.error.kind
}

const ENDED = {
  code: 0,
  signal: null,
  timedOut: false,
  wasInterrupted: false,
  durationMs: 0,
  appearedPaths: [],
  runsLater: [],
}

/** A script that replaces bubblewrap and receives its arguments. */
async function sandboxWithScript(script: string): Promise<Sandbox> {
  const program = join(await freshFolder(), 'bwrap')
  await writeFile(program, `#!/bin/bash\n${script}\n`)
  await chmod(program, 0o755)
  return systemSandbox({ program })
}

const PRINTS_VERSION = '[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }'

test('without bubblewrap the status says that nothing is confined, and why', async () => {
  const sandbox = systemSandbox({ program: '/nowhere/bwrap' })
  expect(await sandbox.status()).toMatchObject({ isConfined: false, why: expect.any(String) })
  const where = await place()
  expect(await runAndCollect(sandbox.runConfined(where), ['/bin/true'])).toBe('sandbox_unavailable')
})

test('on an unsupported system the status says that nothing is confined, and why', async () => {
  expect(await systemSandbox({ platform: 'darwin' }).status()).toEqual({
    isConfined: false,
    why: 'bubblewrap requires Linux; this is darwin',
  })
})

test('on a processor without a seccomp filter the status says that nothing is confined, and why', async () => {
  expect(await systemSandbox({ platform: 'linux', arch: 'riscv64' }).status()).toEqual({
    isConfined: false,
    why: 'no seccomp filter for processor riscv64',
  })
})

test.each([
  ['is too old', 'echo bubblewrap 0.3.3'],
  ['prints no version', 'echo hello'],
  ['always fails', 'exit 1'],
  [
    'fails to set up',
    `${PRINTS_VERSION}; echo "bwrap: setting up uid map: Permission denied" >&2; exit 1`,
  ],
  ['starts nothing and prints nothing', PRINTS_VERSION],
])('a bubblewrap that %s does not confine', async (_, script) => {
  const sandbox = await sandboxWithScript(script)
  expect((await sandbox.status()).isConfined).toBe(false)
  const where = await place()
  expect(await runAndCollect(sandbox.runConfined(where), ['/bin/true'])).toBe('sandbox_unavailable')
})

test('the self-test detects a bubblewrap that does not confine', async () => {
  const sandbox = await sandboxWithScript(
    `${PRINTS_VERSION}; while [ "$1" != -- ]; do shift; done; shift; exec "$@"`,
  )
  const status = await sandbox.status()
  expect(status).toMatchObject({ isConfined: false })
  const reason = status.isConfined ? '' : status.why
  for (const word of [
    'gain capabilities',
    'reach the network',
    'reach a socket outside',
    'in a file',
    'write /',
    'does not filter system calls',
    'create set-id files',
    'keyrings',
  ]) {
    expect(reason).toContain(word)
  }
})

const isRoot = process.getuid?.() === 0

/** A sandbox has its own temporary folders; if nothing else is writable, a successful write proves nothing. */
const writesOutsideTemporary = await access(homedir(), constants.W_OK).then(
  () => ![tmpdir(), '/tmp'].some((folder) => `${homedir()}/`.startsWith(`${folder}/`)),
  () => false,
)

/** Each removes or inverts one required protection. */
const WEAKER: readonly (readonly [string, string, boolean])[] = [
  ['shares the network', 's/--unshare-net //', true],
  ['does not filter system calls', 's/--seccomp 3 //', true],
  ['shows the home', 's/--tmpfs [^ ]*\\/home //; s/--remount-ro [^ ]*\\/home //', true],
  [
    'shows the whole root, writable',
    's/--symlink [^ ]* [^ ]* //g; s/--remount-ro \\/ //; s/--dev \\/dev /--bind \\/ \\/ --dev \\/dev /',
    isRoot || writesOutsideTemporary,
  ],
  ['leaves system folders writable', 's/--ro-bind \\/usr /--bind \\/usr /', isRoot],
  [
    'leaves kernel settings writable for root',
    's/--remount-ro \\/proc //; s/--ro-bind \\/proc /--bind \\/proc /',
    isRoot,
  ],
  [
    'shows processes outside',
    's/--unshare-pid --/--/; s/--unshare-user //; s/--disable-userns //; s/--proc \\/proc --remount-ro \\/proc /--ro-bind \\/proc \\/proc /; s/--as-pid-1//; s/--.id 1000 //g',
    isRoot,
  ],
]

test.each(WEAKER.filter(([, , applies]) => isConfined && applies))(
  'a sandbox that %s fails the self-test',
  async (_, change) => {
    // Arguments before `--` contain no spaces here.
    const sandbox = await sandboxWithScript(`${PRINTS_VERSION}
      flags=(); while [ "$1" != -- ]; do flags+=("$1"); shift; done
      changed=$(printf '%s ' "\${flags[@]}" | sed '${change}')
      exec ${BWRAP} $changed "$@"`)
    expect((await sandbox.status()).isConfined).toBe(false)
  },
)

test.runIf(isConfined)(
  'a filter without the rules about sockets fails the self-test, with the reason',
  async () => {
    const { arch: machine } = process
    if (!isFilteredMachine(machine)) throw new Error(`no filter for ${machine}`)
    const filter = seccompFilter({ machine, nests: false })
    const calls = new Set<number>([SOCKET[machine], SOCKETPAIR[machine]])
    for (let at = 0; at < filter.length; at += 8) {
      const isCall = filter.readUInt16LE(at) === 0x15 && filter.readUInt8(at + 3) > 0
      // No call has this number.
      if (isCall && calls.has(filter.readUInt32LE(at + 4))) filter.writeUInt32LE(0x3fffffff, at + 4)
    }
    const path = join(await freshFolder(), 'filter')
    await writeFile(path, filter)
    const sandbox = await sandboxWithScript(`${PRINTS_VERSION}\nexec ${BWRAP} "$@" 3<${path}`)
    const status = await sandbox.status()
    expect(status).toMatchObject({
      isConfined: false,
      why: expect.stringMatching(
        /self-test: programs can open sockets past the network namespace$/,
      ),
    })
  },
)

test('the self-test runs once', async () => {
  const folder = await freshFolder()
  const sandbox = await sandboxWithScript(
    `echo called >>${folder}/calls; ${PRINTS_VERSION}; exit 1`,
  )
  await Promise.all([sandbox.status(), sandbox.status()])
  const calls = await readFile(join(folder, 'calls'), 'utf8')
  await sandbox.status()
  expect(await readFile(join(folder, 'calls'), 'utf8')).toBe(calls)
})

test('without a sandbox a command runs by the same process rules, unconfined', async () => {
  const where = await place()
  await mkdir(join(where.workspace, 'sub'))
  const run = systemSandbox({ env: { PATH: '/usr/bin:/bin', KEY: 'canary' } }).runUnconfined(where)
  const result = await runAndCollect(
    run,
    ['sh', '-c', 'basename "$PWD"; env | grep -c canary; echo x >AGENTS.md'],
    {
      folder: 'sub',
    },
  )
  expect(result).toEqual({ ...ENDED, output: 'sub\n0\n' })
  expect(await readFile(join(where.workspace, 'sub/AGENTS.md'), 'utf8')).toBe('x\n')
  expect(await runAndCollect(run, ['true'], { folder: '..' })).toBe('outside_workspace')
  expect(await runAndCollect(run, ['/nowhere/at/all'])).toBe('not_found')
})

test.runIf(isConfined)('a command runs in the sandbox, and its exit is reported', async () => {
  const run = system.runConfined(await place())
  expect(await runAndCollect(run, ['sh', '-c', 'echo out; echo err >&2'])).toEqual({
    ...ENDED,
    output: 'out\nerr\n',
  })
  expect(await runAndCollect(run, ['sh', '-c', 'exit 7'])).toMatchObject({ code: 7, output: '' })
  expect(await runAndCollect(run, ['sh', '-c', 'kill -SEGV $$'])).toMatchObject({
    code: 139,
    signal: null,
  })
  expect(await runAndCollect(run, ['cat'], { stdin: Buffer.from('in') })).toEqual({
    ...ENDED,
    output: 'in',
  })
  expect(await runAndCollect(run, ['/nowhere/at/all'])).toMatchObject({ code: 127 })
})

test.runIf(isConfined)(
  'the stderr of a command is never mistaken for that of bubblewrap',
  async () => {
    const run = system.runConfined(await place())
    const result = await runAndCollect(run, [
      'sh',
      '-c',
      'echo "bwrap: no" >&2; echo x >/proc/1/fd/2; exit 1',
    ])
    expect(result).toMatchObject({ code: 1, output: expect.stringContaining('bwrap: no') })
  },
)

test.runIf(isConfined)(
  'a command with an argument longer than the system allows is refused',
  async () => {
    const run = system.runConfined(await place())
    expect(await runAndCollect(run, ['echo', 'x'.repeat(131_072)])).toBe('too_large')
    expect(await runAndCollect(run, ['true', 'x'.repeat(131_071)])).toMatchObject({ code: 0 })
  },
)

test.runIf(isConfined)('a workspace that is $HAWSER_HOME is refused', async () => {
  const where = await place()
  const run = system.runConfined({ ...where, home: where.workspace })
  expect(await runAndCollect(run, ['true'])).toBe('protected_path')
})

test.runIf(isConfined)('a missing workspace is an error', async () => {
  const run = system.runConfined({ ...(await place()), workspace: '/nowhere/at/all' })
  expect(await runAndCollect(run, ['true'])).toBe('not_found')
})

test.runIf(isConfined)('a guest can write its records and start a nested sandbox', async () => {
  const where = await place()
  const records = join(where.workspace, '.hawser/instances/a')
  await mkdir(records, { recursive: true, mode: 0o700 })
  expect(await system.status()).toMatchObject({ isConfined: true, nests: true })
  const run = system.runConfined({ ...where, guest: true, records })
  const script = `echo log >.hawser/log; ${BWRAP} --unshare-user --unshare-pid --ro-bind / / --dev /dev --tmpfs ${where.workspace}/.hawser sh -c 'ls .hawser; echo nested'`
  expect(await runAndCollect(run, ['sh', '-c', script])).toEqual({ ...ENDED, output: 'nested\n' })
  expect(await readFile(join(records, 'log'), 'utf8')).toBe('log\n')
})

test.runIf(isConfined)(
  'a new protected file is moved away even when the output consumer throws',
  async () => {
    const where = await place()
    const onOutput = () => {
      throw new Error('no room')
    }
    const running = runAndCollect(
      system.runConfined(where),
      ['sh', '-c', 'echo evil >AGENTS.md; echo; sleep 1000'],
      {
        onOutput,
      },
    )
    await expect(running).rejects.toThrow('no room')
    expect((await readdir(where.workspace)).filter((name) => name === 'AGENTS.md')).toEqual([])
  },
)
