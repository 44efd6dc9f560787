import { execFileSync } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { startProgram, type Started } from '../../support/cli/program.ts'
import { logOf } from '../../support/presenters/open-chat.ts'

async function place(): Promise<{ readonly root: string; readonly workspace: string }> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'notes.txt'), 'rope\n')
  return { root, workspace }
}

/** Runs the program from a shell, where `"$@"` is `hawser`. */
function inShell(root: string, script: string, ...argv: readonly string[]): Promise<Started> {
  return startProgram({ root, under: ['sh', '-c', script, 'sh'] }, argv)
}

async function messages(root: string): Promise<WholeEvent<'user_message'>['data'][]> {
  const events = await logOf(root)
  return events.flatMap((event) => (event.type === 'user_message' ? [event.data] : []))
}

test('a prompt and a pipe: the model gets the prompt, then the piped text with its label', async () => {
  const { root, workspace } = await place()
  execFileSync('git', ['init', '-q'], { cwd: workspace })
  execFileSync('git', ['add', 'notes.txt'], { cwd: workspace })
  await writeFile(join(workspace, 'notes.txt'), 'hawser\n')
  const run = await inShell(root, 'git diff | "$@"', 'run', 'review this')
  expect((await run.ended).code).toBe(0)
  const [message] = await messages(root)
  expect(message).toMatchObject({ text: 'review this', prompt_mode: 'string' })
  expect(message?.piped).toMatch(/^diff --git [^]*\+hawser\n$/)
  const bytes = Buffer.byteLength(message?.piped ?? '')
  expect(run.stderr()).toContain(`sending ${bytes} bytes from standard input`)
  const request = await runCli({ root }, 'request', 'latest', '--prompt', 'next')
  expect(request.stdout).toContain(
    `review this\\n\\n[Standard input, piped in with this message, ${bytes} bytes:]\\ndiff --git`,
  )
  expect(request.stdout).toContain('+hawser\\n[End of standard input]')
  const verified = await runCli({ root }, 'log', 'verify', 'latest', '--requests')
  expect([verified.code, verified.stderr]).toEqual([0, ''])
})

test('text over 64 KiB, and text that is not UTF-8, is attached as a Resource', async () => {
  const { root, workspace } = await place()
  const most = 64 * 1024
  await writeFile(join(workspace, 'most'), 'x'.repeat(most))
  await writeFile(join(workspace, 'more'), 'x'.repeat(most + 1))
  await writeFile(
    join(workspace, 'old'),
    Buffer.from('caf\xe9 d\xe9j\xe0 vu, na\xefve\n', 'latin1'),
  )
  for (const name of ['most', 'more', 'old']) {
    const options = name === 'most' ? [] : ['--continue']
    const run = await inShell(root, `exec "$@" < ${name}`, 'run', 'Look', ...options)
    expect((await run.ended).code).toBe(0)
  }
  const [inline, long, old] = await messages(root)
  expect([inline?.piped?.length, inline?.resources]).toEqual([most, undefined])
  expect([long?.piped, old?.piped]).toEqual([undefined, undefined])
  expect(long?.resources).toMatchObject([
    { name: 'stdin.txt', kind: 'text', size_bytes: most + 1, source: 'cli' },
  ])
  expect(old?.resources).toMatchObject([
    { name: 'stdin.txt', kind: 'text', charset: expect.any(String) },
  ])
})

test.each([
  ['no standard input', 'exec "$@" <&-'],
  ['/dev/null', 'exec "$@" < /dev/null'],
  ['a folder', 'exec "$@" < /'],
])('with %s the prompt is sent alone, without a notice', async (_what, script) => {
  const { root } = await place()
  const run = await inShell(root, script, 'run', 'Read notes.txt')
  expect((await run.ended).code).toBe(0)
  expect(run.stderr()).not.toContain('standard input')
  expect(await messages(root)).toEqual([{ text: 'Read notes.txt', prompt_mode: 'string' }])
})

test.each([
  ['an empty file', 'exec "$@" < empty'],
  ['a closed pipe', ': | "$@"'],
])(
  'with %s the prompt is sent alone, and a notice says that it is empty',
  async (_what, script) => {
    const { root, workspace } = await place()
    await writeFile(join(workspace, 'empty'), '')
    const run = await inShell(root, script, 'run', 'Read notes.txt')
    expect((await run.ended).code).toBe(0)
    expect(run.stderr()).toContain('standard input is empty')
    expect(await messages(root)).toEqual([{ text: 'Read notes.txt', prompt_mode: 'string' }])
  },
)

test.each([
  ['20 MB', 'head -c 20000000 /dev/zero | tr "\\0" x | "$@"', 'too_large', 'exceeds 10 MiB'],
  ['a picture', 'printf "\\211PNG\\r\\n\\032\\n" | "$@"', 'invalid_args', 'a PNG image'],
  ['binary data', 'head -c 100 /dev/zero | "$@"', 'invalid_args', 'binary data'],
])('%s beside a prompt is a usage error, and nothing starts', async (_what, script, kind, says) => {
  const { root, workspace } = await place()
  const run = await inShell(root, script, 'run', 'Look at this', '--json')
  expect((await run.ended).code).toBe(2)
  expect(JSON.parse(run.stdout())).toMatchObject({
    error: { kind, message: expect.stringContaining(says) },
  })
  if (kind === 'invalid_args') expect(run.stdout()).toContain('--attach -')
  expect(await readdir(workspace)).toEqual(['notes.txt'])
})

test.each([
  ['a pipe', { under: ['sh', '-c', 'mkfifo p && exec 3<> p && "$@" <&3', 'sh'] }],
  ['a socket', { stdin: 'pipe' }],
] as const)(
  '%s that stays open and silent is abandoned after 3 seconds, with a notice',
  async (_what, options) => {
    const { root } = await place()
    const run = await startProgram({ root, ...options }, ['run', 'Read notes.txt'])
    expect((await run.ended).code).toBe(0)
    expect(run.stderr()).toContain('sent nothing for 3 seconds')
    expect(await messages(root)).toEqual([{ text: 'Read notes.txt', prompt_mode: 'string' }])
  },
)

test('data that a parent process writes to a socket is piped text, too', async () => {
  const { root } = await place()
  const run = await startProgram({ root, stdin: 'pipe' }, ['run', 'Look', '--quiet'])
  run.child.stdin?.end('from a program\n')
  expect([(await run.ended).code, run.stderr()]).toEqual([0, ''])
  expect(await messages(root)).toMatchObject([{ text: 'Look', piped: 'from a program\n' }])
})

test('standard input that is attached is not piped in as well', async () => {
  const { root } = await place()
  const run = await inShell(root, 'echo rope | "$@"', 'run', '--attach', '-', 'Look')
  expect((await run.ended).code).toBe(0)
  const [message] = await messages(root)
  expect([message?.piped, message?.resources?.length]).toEqual([undefined, 1])
})

test('a loop loses no line with </dev/null; without it a notice says what was read and how to prevent it', async () => {
  const { root, workspace } = await place()
  await writeFile(join(workspace, 'list'), 'one\ntwo\nthree\n')
  const loop = (input: string) =>
    `while read -r name; do echo "$name" >> seen; "$@" "Say $name" ${input}; done < list`
  const safe = await inShell(root, loop('< /dev/null'), 'run')
  await safe.ended
  expect(await readFile(join(workspace, 'seen'), 'utf8')).toBe('one\ntwo\nthree\n')
  expect(safe.stderr()).not.toContain('standard input')
  const unguarded = await inShell(root, loop(''), 'run')
  await unguarded.ended
  expect(unguarded.stderr()).toContain(
    'sending 10 bytes from standard input with the prompt. To ignore standard input: --no-stdin',
  )
})

test('grep, show and export include the piped text', async () => {
  const { root } = await place()
  const run = await inShell(root, 'echo bollard | "$@"', 'run', 'Look')
  await run.ended
  for (const argv of [
    ['grep', 'bollard'],
    ['log', 'show', 'latest'],
    ['log', 'export', 'latest', '--format', 'markdown'],
  ]) {
    const { stdout, stderr } = await runCli({ root }, ...argv)
    expect([argv, stdout, stderr]).toEqual([argv, expect.stringContaining('bollard'), ''])
  }
})

test('--stdin waits for a pipe that is silent for longer than 3 seconds; --no-stdin does not wait', async () => {
  const [waiting, giving, ignoring] = [await place(), await place(), await place()]
  const options = { stdin: 'pipe' } as const
  const slow = await startProgram({ ...waiting, ...options }, ['run', '--stdin', 'Look'])
  // This run starts later and gives up, so the first one has waited longer than that.
  const silent = await startProgram({ ...giving, ...options }, ['run', 'Look'])
  const none = await startProgram({ ...ignoring, ...options }, ['run', '--no-stdin', 'Look'])
  expect((await silent.ended).code).toBe(0)
  slow.child.stdin?.end('late\n')
  expect((await slow.ended).code).toBe(0)
  expect(await messages(waiting.root)).toMatchObject([{ text: 'Look', piped: 'late\n' }])
  expect((await none.ended).code).toBe(0)
  expect(none.stderr()).not.toContain('standard input')
})

test('an error after a silent pipe ends the program, although the pipe stays open', async () => {
  const { root } = await place()
  const run = await startProgram({ root, stdin: 'pipe' }, ['run', '-r', 'nothere', 'Look'])
  expect((await run.ended).code).toBe(1)
  expect(run.stderr()).toContain('No Session here has an id ending in')
})
