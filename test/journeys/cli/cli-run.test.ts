import { access, chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { whyNoSmallDisk } from '../../faults/disk/full-disk-runs.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { NOBODY, startProgram, whyNotAsNobody } from '../../support/cli/program.ts'
import { commandPlace } from '../../support/session/write-log.ts'

async function place(): Promise<{ readonly root: string; readonly workspace: string }> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'notes.txt'), 'rope\n')
  return { root, workspace }
}

function lines(text: string): z.infer<typeof Line>[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
}

const Line = z.looseObject({ type: z.string() })

async function onlyLog(workspace: string): Promise<string> {
  const folder = join(workspace, '.hawser', 'sessions')
  const name = (await readdir(folder)).find((one) => one.endsWith('.ndjson')) ?? ''
  return readFile(join(folder, name), 'utf8')
}

test('standard output contains only the answer', async () => {
  const { root } = await place()
  const { code, stdout, stderr } = await runCli({ root }, 'run', 'Read', 'notes.txt')
  expect(code).toBe(0)
  expect(stdout).toContain('rope')
  expect(stdout).not.toContain('I will read')
  expect(stderr).toMatch(/No API key found[^]*tokens in[^]*hawser run --session ses_/)
})

test('a Session continues by id, by the end of its id or as the latest', async () => {
  const { root } = await place()
  await runCli({ root }, 'run', 'Read notes.txt')
  const again = await runCli({ root }, 'run', '--continue', 'List all files', '--json')
  const [first] = lines(again.stdout)
  const id = String(first?.['session_id'])
  expect(first?.['seq']).toBeGreaterThan(2)
  const byId = await runCli({ root }, 'run', '--session', id, 'List all files', '--json')
  const byEnding = await runCli({ root }, 'run', '--session', id.slice(-8), 'What?', '--json')
  for (const { stdout } of [byId, byEnding]) expect(lines(stdout)[0]?.['session_id']).toBe(id)
})

test('with --json every Event and notice is a line, and the last line is the result', async () => {
  const { root, workspace } = await place()
  const { code, stdout, stderr } = await runCli({ root }, 'run', 'Read notes.txt', '--json')
  const all = lines(stdout)
  expect([code, stderr]).toEqual([0, ''])
  const logged = (await onlyLog(workspace)).trimEnd().split('\n')
  const events = all.filter(({ seq }) => seq !== undefined)
  expect(events).toEqual(logged.slice(2).map((line): unknown => JSON.parse(line)))
  expect(all.at(-1)).toEqual({
    type: 'turn_result',
    ok: true,
    session_id: events[0]?.['session_id'],
    turn_id: events[0]?.['turn_id'],
    status: 'completed',
    text: expect.stringContaining('rope'),
    resources: [],
    usage: expect.objectContaining({ calls: 2 }),
    pressure: 'unavailable',
    notices: [],
    denied: 0,
    exit_code: 0,
  })
})

test('the prompt may come from standard input', async () => {
  const { root } = await place()
  expect(await runCli({ root, stdin: 'Read notes.txt\n' }, 'run')).toMatchObject({ code: 0 })
})

test('a call without anyone to ask is denied, and the exit code is 3', async () => {
  const { root, workspace } = await place()
  const run = await runCli({ root }, 'run', 'Write "x" to out.txt')
  expect(run.code).toBe(3)
  expect(run.stderr).toContain('write was denied')
  await expect(access(join(workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  const allowed = await runCli({ root }, 'run', '--permission', 'auto', 'Write "x" to out.txt')
  expect([allowed.code, await readFile(join(workspace, 'out.txt'), 'utf8')]).toEqual([0, 'x'])
})

test.each([
  ['nothing at all', '', 'invalid_args'],
  ['blanks', ' \n\t\n', 'invalid_args'],
  ['20 MB', Buffer.alloc(20_000_000, 'x'), 'too_large'],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x41]), 'invalid_args'],
])('a prompt of %s is a usage error, and nothing starts', async (_what, stdin, kind) => {
  const { root, workspace } = await place()
  const { code, stdout } = await runCli({ root, stdin }, 'run', '--json')
  expect(code).toBe(2)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { kind } })
  expect(await readdir(workspace)).toEqual(['notes.txt'])
})

test.each(['../../x', '-rf', 'ses_../../../etc/passwd', 'ses_\u001b[2J', '', 'xyz'])(
  'the id %j is refused and never repeated unescaped',
  async (id) => {
    const { root } = await place()
    await runCli({ root }, 'run', 'List all files')
    for (const argv of [
      ['run', `--session=${id}`, 'Hello'],
      ['log', 'show', '--', id],
      ['undo', '--', id],
    ]) {
      const { code, stdout, stderr } = await runCli({ root }, ...argv)
      expect([argv, code, stdout]).toEqual([argv, 2, ''])
      expect(stderr).toMatch(/^hawser: .*\nTry: hawser /)
      expect(stderr).not.toContain('\u001b')
    }
  },
)

test('contradictions and bad values are usage errors', async () => {
  const { root } = await place()
  for (const argv of [
    ['--timeout', 'soon', 'x'],
    ['--timeout', '-1', 'x'],
    ['--permission', 'all', 'x'],
    ['--continue', '--session', 'latest', 'x'],
    ['--continue', '--mode', 'ship', 'x'],
  ]) {
    await runCli({ root }, 'run', 'Hello')
    const { code, stdout, stderr } = await runCli({ root }, 'run', ...argv)
    expect([argv, code, stdout]).toEqual([argv, 2, ''])
    expect(stderr).toMatch(/^hawser: /)
  }
})

test('an unknown provider is exit code 6, and the error lists the known ones', async () => {
  const { root } = await place()
  const { code, stdout } = await runCli({ root }, 'run', '--provider', 'nimbus', 'Hello', '--json')
  expect(code).toBe(6)
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      kind: 'not_configured',
      details: { known: ['anthropic', 'openai', 'openai-chat', 'rehearsal'] },
    },
  })
})

test('a workspace that is missing or a file is reported', async () => {
  const { root, workspace } = await place()
  const missing = await runCli(
    { root },
    'run',
    '--workspace',
    join(root, 'gone'),
    'Hello',
    '--json',
  )
  expect(JSON.parse(missing.stdout)).toMatchObject({ error: { kind: 'not_found' } })
  const file = await runCli({ root }, 'run', '--workspace', join(workspace, 'notes.txt'), 'Hello')
  expect([file.code, file.stdout]).toEqual([1, ''])
  expect(file.stderr).toMatch(/^hawser: /)
})

const asRoot = process.getuid?.() === 0
const cannotBeNobody = (await whyNotAsNobody()) !== undefined

test.skipIf(cannotBeNobody)(
  'a workspace that is not writable or not ours is reported',
  async () => {
    const { root, workspace } = await place()
    await chmod(root, 0o755)
    await mkdir(join(root, 'home'))
    await chmod(join(root, 'home'), 0o777)
    await mkdir(join(workspace, '.hawser'))
    const options = { root, uid: NOBODY, env: { HAWSER_HOME: join(root, 'home', 'own') } }
    for (const prepare of [async () => {}, async () => chmod(join(workspace, '.hawser'), 0o777)]) {
      await prepare()
      const run = await startProgram(options, ['run', 'Hello'])
      expect([(await run.ended).code, run.stdout()]).toEqual([1, ''])
      expect(run.stderr()).toMatch(/^hawser: [^\n]+\n/)
      expect(run.stderr()).not.toMatch(/\n {4}at /)
    }
  },
)

test.skipIf(cannotBeNobody)('without a home, the run is refused with the reason', async () => {
  const { root } = await place()
  await chmod(root, 0o755)
  await chmod(join(root, 'workspace'), 0o777)
  const env = { HAWSER_HOME: undefined, HOME: undefined }
  const run = await startProgram({ root, uid: NOBODY, env }, ['run', 'Hello'])
  expect((await run.ended).code).toBe(1)
  expect(run.stderr()).toMatch(/^hawser: [^\n]+\nNext: Set HAWSER_HOME/)
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends the Turn in the Log, and the exit code is %i', async (signal, code) => {
  const { root, workspace } = await place()
  const run = await startProgram({ root }, [
    'run',
    '--permission',
    'auto',
    'Run `sleep 60`',
    '--json',
  ])
  await run.waitFor('"permission_decision"')
  run.child.kill(signal)
  expect((await run.ended).code).toBe(code)
  expect(await onlyLog(workspace)).toMatch(/"type":"turn_ended","data":\{"status":"interrupted"/)
  expect(run.stdout().trimEnd().split('\n').at(-1)).toContain('"turn_result"')
})

test('a time limit ends the Turn in the Log, and the exit code is 124', async () => {
  const { root, workspace } = await place()
  const argv = ['run', '--permission', 'auto', '--timeout', '0.5', 'Run `sleep 60`']
  const run = await startProgram({ root }, argv)
  expect((await run.ended).code).toBe(124)
  expect(await onlyLog(workspace)).toMatch(
    /"type":"turn_ended","data":\{"status":"interrupted","error":\{"kind":"timeout"/,
  )
  expect(run.stderr()).toContain('hawser: The Turn timed out: its time limit is 0.5 s.\n')
  expect(run.stderr()).not.toContain('interrupted')
  const json = await startProgram({ root }, [...argv, '--output', 'json'])
  expect((await json.ended).code).toBe(124)
  expect(JSON.parse(json.stdout())).toMatchObject({
    status: 'interrupted',
    error: { kind: 'timeout' },
    exit_code: 124,
  })
})

test('a second run on a Session is refused with the process that holds it, and exit code 5', async () => {
  const { root } = await place()
  const argv = ['run', '--permission', 'auto', 'Run `sleep 60`', '--json']
  const first = await startProgram({ root }, argv)
  await first.waitFor('"permission_decision"')
  const second = await runCli({ root }, 'run', '--continue', 'Hello')
  expect(second.code).toBe(5)
  expect(second.stderr).toContain(`pid ${first.child.pid}`)
  first.child.kill('SIGINT')
  await first.ended
  expect((await runCli({ root }, 'run', '--continue', 'List all files')).code).toBe(0)
})

test('a reader that closes the output does not harm the Turn', async () => {
  const { root, workspace } = await place()
  const run = await startProgram({ root }, ['run', 'Read notes.txt', '--json'])
  run.child.stdout?.destroy()
  expect((await run.ended).code).toBe(0)
  expect(run.stderr()).toBe('')
  expect(await onlyLog(workspace)).toMatch(/"type":"turn_ended","data":\{"status":"completed"/)
})

test.skipIf((await whyNoSmallDisk()) !== undefined)(
  'on a full disk the run is refused with the reason, and nothing is half-written',
  async () => {
    const { root, workspace } = await place()
    const script = 'mount -t tmpfs -o size=64k tmpfs . && cd . && cd "$PWD" && exec "$@"'
    const under = ['unshare', '--mount', ...(asRoot ? [] : ['--map-root-user']), 'sh', '-c', script]
    const filled = [
      ...under.slice(0, -1),
      script.replace('exec', 'head -c 60k /dev/zero > fill; exec'),
      'sh',
    ]
    const run = await startProgram({ root, under: filled }, ['run', 'Read notes.txt'])
    expect((await run.ended).code).toBe(1)
    expect(run.stderr()).toMatch(/^hawser: .*(space|full)/im)
    expect(run.stderr()).not.toMatch(/\n {4}at /)
    expect(await readdir(workspace)).toEqual(['notes.txt'])
  },
)

test('a word after -r that was meant as the prompt is named', async () => {
  const { root } = await commandPlace()
  const run = await runCli({ root, stdin: '' }, 'run', '-r', 'hi')
  expect([run.code, run.stdout]).toEqual([2, ''])
  expect(run.stderr).toContain('"hi" after -r was read as the id of a Session')
  expect(run.stderr).toContain('Try: hawser run -c "hi"\n')
})

test('--no-stdin without a prompt is a usage error, and so is reading what is ignored', async () => {
  const { root } = await commandPlace()
  for (const argv of [['--no-stdin'], ['--no-stdin', '--attach', '-', 'Look']]) {
    const run = await runCli({ root, stdin: 'Look' }, 'run', ...argv, '--json')
    expect([run.code, failureOf(run).kind]).toEqual([2, 'invalid_args'])
  }
})
