import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { NO_RESOURCES } from '../../test/support/resources/no-resources.ts'
import { NO_TOOL_SKILLS } from '../../test/support/skills/no-tool-skills.ts'
import { freshFolder } from '../../test/support/host/folder.ts'
import { Redactor } from '../encoding/redaction.ts'
import { openConfined } from '../host/files/confined-files.ts'
import { systemSandbox, type ConfinedRun, type Exit } from '../host/sandbox/sandbox.ts'
import { failed, ok } from '../model/errors.ts'
import { BlobKey } from '../model/ids.ts'
import { bash, NOTES_BYTES } from './bash.ts'
import type { ToolContext, ToolOutcome } from './tool.ts'

const DONE: Exit = {
  code: 0,
  signal: null,
  timedOut: false,
  wasInterrupted: false,
  durationMs: 1,
  appearedPaths: [],
  runsLater: [],
}

interface Called {
  readonly outcome: ToolOutcome
  readonly progress: string
  readonly blobs: ReadonlyMap<string, Buffer>
}

interface World {
  readonly run?: ConfinedRun
  readonly workspace?: string
  readonly output_bytes?: number
  readonly signal?: AbortSignal
  readonly keep?: ToolContext['keep']
}

async function call(args: object, world: World = {}): Promise<Called> {
  const workspace = world.workspace ?? (await freshFolder())
  const home = await freshFolder()
  const files = await openConfined(workspace, { refuse: [] })
  if (!files.ok) throw new Error(files.error.message)
  const blobs = new Map<string, Buffer>()
  let progress = ''
  const own = systemSandbox().runUnconfined({
    workspace,
    home,
    writable: 'workspace',
    protectedPaths: [],
  })
  const context: ToolContext = {
    signal: world.signal ?? new AbortController().signal,
    files: files.value,
    decidedPaths: new Set(),
    run: world.run ?? own,
    runReadOnly: world.run ?? own,
    resources: NO_RESOURCES,
    skills: NO_TOOL_SKILLS,
    redactor: new Redactor([]),
    escapesNotes: false,
    keep:
      world.keep ??
      (async (bytes) => {
        const chunks: Uint8Array[] = []
        for await (const chunk of bytes) chunks.push(chunk)
        const all = Buffer.concat(chunks)
        const key = BlobKey.parse(`${createHash('sha256').update(all).digest('hex')}.txt`)
        blobs.set(key, all)
        return ok(key)
      }),
    searchHistory: async () => failed('internal', 'A command searches nothing.'),
    readEvent: async () => failed('internal', 'A command reads nothing.'),
    progress: (text) => {
      progress += text
    },
    limits: { output_bytes: (world.output_bytes ?? 50_000) + NOTES_BYTES, command_ms: 120_000 },
  }
  const parsed = bash.parse(JSON.stringify(args))
  if (!parsed.ok) throw new Error(parsed.error.message)
  const outcome = await parsed.value.run(context)
  await files.value.close()
  return { outcome, progress, blobs }
}

/** A run whose command prints these chunks and exits with this result. */
function printing(chunks: readonly (string | Buffer)[], exit: Partial<Exit> = {}): ConfinedRun {
  return async (command) => {
    for (const chunk of chunks) await command.onOutput(Buffer.from(chunk))
    return ok({ ...DONE, ...exit })
  }
}

test('it claims to run a program, with its text, its folder and the requested network access', () => {
  const claimOf = (args: object) => {
    const parsed = bash.parse(JSON.stringify(args))
    return parsed.ok ? parsed.value.claim : parsed.error.kind
  }
  const base = { tool: 'bash', effect: 'run', command: 'ls' }
  expect(claimOf({ command: 'ls' })).toEqual({ ...base, paths: [], network: false })
  expect(claimOf({ command: 'ls', network: true, folder: 'a/b' })).toEqual({
    ...base,
    paths: ['a/b'],
    network: true,
  })
})

test('an invalid command is refused before anything happens', () => {
  const bad = [
    {},
    { command: '' },
    { command: 'a\0b' },
    { command: 'ls', timeout_ms: 0 },
    { command: 'ls', timeout_ms: 600_001 },
    { command: 'ls', timeout_ms: 1.5 },
    { command: 'ls', cwd: '/' },
    { command: ['ls'] },
  ]
  const kinds = bad.map((args) => {
    const parsed = bash.parse(JSON.stringify(args))
    return parsed.ok ? 'ok' : parsed.error.kind
  })
  expect(kinds).toEqual(bad.map(() => 'invalid_args'))
})

test('the command gets its time limit, network and folder; unset ones have their default', async () => {
  const seen: object[] = []
  const run: ConfinedRun = async ({ wallMs, network, folder, stdin }) => {
    seen.push({ wallMs, network, folder, stdin })
    return ok(DONE)
  }
  await call({ command: 'true' }, { run })
  await call({ command: 'true', timeout_ms: 5, network: true, folder: 'sub' }, { run })
  expect(seen).toEqual([
    { wallMs: 120_000, network: false, folder: undefined, stdin: undefined },
    { wallMs: 5, network: true, folder: 'sub', stdin: undefined },
  ])
})

test('a real command runs in bash, in its folder, and reports its exit', async () => {
  const workspace = await freshFolder()
  await mkdir(join(workspace, 'sub'))
  const command = 'a=(x y); echo "${a[1]} $(basename "$PWD")"; echo oops >&2; exit 3'
  const { outcome, progress } = await call({ command, folder: 'sub' }, { workspace })
  expect(outcome).toEqual({
    outcome: 'failed',
    output: 'y sub\noops\n[exit code 3]\n',
    exit_code: 3,
  })
  expect(progress).toBe('y sub\noops\n')
})

test('a folder that leads out of the workspace is a failure of that kind', async () => {
  const { outcome } = await call({ command: 'pwd', folder: '/' })
  expect(outcome).toMatchObject({ outcome: 'failed', error: { kind: 'outside_workspace' } })
})

test('a command that does not exit with 0 failed, and its result has the exit code', async () => {
  const ends = await Promise.all(
    [{ code: 0 }, { code: 1 }, { code: 127 }, { code: null, signal: 'SIGSEGV' }].map(
      async (exit) => (await call({ command: 'x' }, { run: printing(['out'], exit) })).outcome,
    ),
  )
  expect(ends).toEqual([
    { outcome: 'ok', output: 'out\n[exit code 0]\n', exit_code: 0 },
    { outcome: 'failed', output: 'out\n[exit code 1]\n', exit_code: 1 },
    { outcome: 'failed', output: 'out\n[exit code 127]\n', exit_code: 127 },
    { outcome: 'failed', output: 'out\n[killed by SIGSEGV]\n' },
  ])
})

test('a command that tried to use the network is reported at once, and its result says what can be done', async () => {
  const run: ConfinedRun = async (command) => {
    command.onNetworkTry?.()
    await command.onOutput(Buffer.from('EAI_AGAIN\n'))
    return ok({ ...DONE, code: 1, triedNetwork: true })
  }
  const { outcome, progress } = await call({ command: 'npm install x' }, { run })
  expect(progress).toMatch(/^The command tried to reach the network, .*\nEAI_AGAIN\n$/)
  expect(outcome.output).toBe(
    'EAI_AGAIN\n[it tried to reach the network, which is off; call again with network: true to ask the person for access]\n[exit code 1]\n',
  )
})

test('at the time limit, on interruption and without a sandbox it fails, with the output so far', async () => {
  const timedOut = printing(['so far\n'], { code: null, signal: 'SIGKILL', timedOut: true })
  expect((await call({ command: 'x', timeout_ms: 1500 }, { run: timedOut })).outcome).toMatchObject(
    {
      outcome: 'failed',
      error: { kind: 'timeout', details: { limit_ms: 1500 } },
      output: 'so far\n[stopped at the time limit of 1,500 ms]\n',
    },
  )
  const interrupted = printing(['so far\n'], {
    code: null,
    signal: 'SIGKILL',
    wasInterrupted: true,
  })
  expect((await call({ command: 'x' }, { run: interrupted })).outcome).toMatchObject({
    outcome: 'failed',
    error: { kind: 'interrupted' },
    output: 'so far\n[interrupted]\n',
  })
  const unconfined: ConfinedRun = async () => failed('sandbox_unavailable', 'none')
  expect((await call({ command: 'x' }, { run: unconfined })).outcome).toMatchObject({
    outcome: 'failed',
    error: { kind: 'sandbox_unavailable' },
  })
})

test('a call that is interrupted before it starts runs nothing', async () => {
  const run: ConfinedRun = () => {
    throw new Error('it ran')
  }
  const { outcome } = await call({ command: 'x' }, { run, signal: AbortSignal.abort() })
  expect(outcome).toMatchObject({ outcome: 'failed', error: { kind: 'interrupted' } })
})

test('both ends of a long output are shown, and a line between them names the blob of the whole', async () => {
  const chunks = ['first\n', 'x'.repeat(60), '\nlast\n']
  const { outcome, blobs } = await call(
    { command: 'x' },
    { run: printing(chunks), output_bytes: 20 },
  )
  const [key] = [...blobs.keys()]
  expect(outcome).toEqual({
    outcome: 'ok',
    output: `first\nxxxx\n[52 bytes omitted here; all 72 bytes are in blob ${key}]\nxxxx\nlast\n[exit code 0]\n`,
    exit_code: 0,
    truncated: true,
    whole_blob: key,
  })
  expect(blobs.get(key ?? '')?.toString()).toBe(chunks.join(''))
})

test('an output of exactly the limit is shown completely and not stored', async () => {
  const { outcome, blobs } = await call(
    { command: 'x' },
    { run: printing(['0123456789', '0123456789']), output_bytes: 20 },
  )
  expect(outcome.output).toBe('01234567890123456789\n[exit code 0]\n')
  expect(blobs.size).toBe(0)
})

test('bytes that are not text are replaced, and the result reports it', async () => {
  const { outcome, progress } = await call(
    { command: 'x' },
    { run: printing([Buffer.from([0x61, 0xff]), Buffer.from([0xc3]), Buffer.from([0xa4])]) },
  )
  expect(outcome.output).toBe('a\ufffdä\n[bytes that are not UTF-8 were replaced]\n[exit code 0]\n')
  expect(progress).toBe('a\ufffdä')
})

test('replacing makes text longer: the whole is stored even if its bytes alone would have fitted', async () => {
  const bytes = Buffer.alloc(20, 0xff)
  const { outcome, blobs } = await call(
    { command: 'x' },
    { run: printing([bytes]), output_bytes: 30 },
  )
  expect(outcome.truncated).toBe(true)
  expect([...blobs.values()]).toEqual([bytes])
})

test('protected paths that were moved aside are named, without control characters', async () => {
  const run = printing([], { appearedPaths: ['AGENTS.md', '.vscode\u001b[2J'] })
  const { outcome } = await call({ command: 'x' }, { run })
  expect(outcome.output).toBe(
    '[AGENTS.md is protected and was moved aside]\n[.vscode\\u{1b}[2J is protected and was moved aside]\n[exit code 0]\n',
  )
})

test('the limits of the sandbox that a command reached are named', async () => {
  const run = printing([], { code: 137, limitsMet: { memory: 209_715_200, processes: 64 } })
  const { outcome } = await call({ command: 'x' }, { run })
  expect(outcome.output).toBe(
    '[a process was killed at the limit of 209,715,200 bytes of memory]\n[more than 64 processes were refused]\n[exit code 137]\n',
  )
})

test('if the store fails, the output is still shown, with the reason why the rest is missing', async () => {
  const keep: ToolContext['keep'] = async () => failed('storage_failed', 'The disk is full.')
  const chunks = Array.from({ length: 200 }, () => 'y'.repeat(65_536))
  const { outcome } = await call(
    { command: 'x' },
    { run: printing(chunks), keep, output_bytes: 10 },
  )
  expect(outcome.output).toBe(
    'yyyyy\n[13,107,190 bytes omitted here; The disk is full.]\nyyyyy\n[exit code 0]\n',
  )
})

test('a slow store slows the command down, so that little waits in memory', async () => {
  let produced = 0
  let taken = 0
  let most = 0
  const keep: ToolContext['keep'] = async (bytes) => {
    for await (const chunk of bytes) {
      await new Promise<void>((resolve) => void setImmediate(resolve))
      taken += chunk.length
    }
    return ok(BlobKey.parse(`${'a'.repeat(64)}.txt`))
  }
  const run: ConfinedRun = async (command) => {
    for (let i = 0; i < 200; i++) {
      produced += 65_536
      await command.onOutput(Buffer.alloc(65_536, 'z'))
      most = Math.max(most, produced - taken)
    }
    return ok(DONE)
  }
  const { outcome } = await call({ command: 'x' }, { run, keep })
  expect(outcome).toMatchObject({ outcome: 'ok', truncated: true })
  expect(taken).toBe(produced)
  expect(most).toBeLessThan(2 * 1024 * 1024)
})

test('output over the storage limit is not stored, and the line states how much is', async () => {
  let stored = 0
  const keep: ToolContext['keep'] = async (bytes) => {
    for await (const chunk of bytes) stored += chunk.length
    return ok(BlobKey.parse(`${'b'.repeat(64)}.txt`))
  }
  const chunks = Array.from({ length: 66 }, () => Buffer.alloc(1_048_576, 'w'))
  const { outcome } = await call(
    { command: 'x' },
    { run: printing(chunks), keep, output_bytes: 10 },
  )
  expect(stored).toBe(67_108_864)
  expect(outcome.output).toContain('the first 67,108,864 of 69,206,016 bytes are in blob bbbb')
})
