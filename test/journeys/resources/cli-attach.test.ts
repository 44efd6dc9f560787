import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli, type CliRun } from '../../support/cli/cli.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

const PNG = TINY_IMAGES.png

async function place(): Promise<{ readonly root: string; readonly workspace: string }> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  await writeFile(join(workspace, 'tiny.png'), PNG)
  await writeFile(join(workspace, 'notes.txt'), 'rope\nsail\n')
  await writeFile(join(workspace, 'bad.zip'), 'PK\u0003\u0004')
  return { root, workspace }
}

const Message = z.object({
  text: z.string(),
  prompt_mode: z.string(),
  resources: z.array(z.looseObject({ handle: z.string(), name: z.string() })).default([]),
  attachment_errors: z.array(z.looseObject({ code: z.string(), name: z.string() })).default([]),
})

const Body = z.object({ body: z.string() })

const Line = z.looseObject({
  type: z.string(),
  data: z.record(z.string(), z.unknown()).default({}),
})

/** The lines of a run with `--json`. */
function lines({ stdout }: CliRun): z.infer<typeof Line>[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => Line.parse(JSON.parse(line)))
}

/** The message of a run in short form: handles and names, refusals, and requested views. */
function enclosed(run: CliRun) {
  const all = lines(run)
  const [message] = all.flatMap(({ type, data }) =>
    type === 'user_message' ? [Message.parse(data)] : [],
  )
  const views = all.flatMap(({ type, data }) =>
    type === 'resource_view' && data['by'] === 'person' ? [data['handle']] : [],
  )
  return {
    mode: message?.prompt_mode,
    resources: message?.resources.map(({ handle, name }) => `${handle} ${name}`),
    errors: message?.attachment_errors.map(({ code, name }) => `${name} ${code}`),
    views,
  }
}

async function logOf(workspace: string): Promise<string> {
  const folder = join(workspace, '.hawser', 'sessions')
  const name = (await readdir(folder)).find((one) => one.endsWith('.ndjson'))
  return readFile(join(folder, name ?? ''), 'utf8')
}

test('[SR-018] a file is attached by its path alone: Hawser reads, measures and names it', async () => {
  const { root, workspace } = await place()
  const outside = join(root, 'outside')
  await mkdir(outside)
  await writeFile(join(outside, 'far.png'), PNG)
  const attach = ['--attach', 'tiny.png', '--attach', '../outside/far.png']
  const run = await runCli({ root }, 'run', ...attach, 'What do you see?', '--json')
  expect(run.code).toBe(0)
  expect(enclosed(run)).toEqual({
    mode: 'blocks',
    resources: ['@img1 tiny.png', '@img2 far.png'],
    errors: [],
    views: [],
  })
  const log = await logOf(workspace)
  expect([log.includes('outside'), log.includes(PNG.toString('base64').slice(0, 64))]).toEqual([
    false,
    false,
  ])
  expect(log).toContain('"width":3')
})

test('standard input is attached under a name derived from its content', async () => {
  const { root } = await place()
  const names = []
  for (const stdin of [
    PNG,
    TINY_IMAGES.gif,
    Buffer.from('häfen'),
    Buffer.from('h\xe4fen', 'latin1'),
  ]) {
    const run = await runCli({ root, stdin }, 'run', '--attach', '-', 'What is this?', '--json')
    names.push([run.code, enclosed(run).resources])
  }
  expect(names).toEqual([
    [0, ['@img1 stdin.png']],
    [0, ['@img1 stdin.gif']],
    [0, ['@txt1 stdin.txt']],
    [0, ['@txt1 stdin.txt']],
  ])
})

test.each([
  ['one byte too many', Buffer.alloc(10 * 1024 * 1024 + 1, 'a'), 'too_large'],
  ['far too many', Buffer.alloc(12 * 1024 * 1024, 'a'), 'too_large'],
  ['no bytes', '', 'empty'],
  ['an archive', 'PK\u0003\u0004', 'unsupported_type'],
])('%s on standard input is refused, and nothing is sent', async (_what, stdin, code) => {
  const { root } = await place()
  const run = await runCli({ root, stdin }, 'run', '--attach', '-', '--json')
  expect(run.code).toBe(4)
  expect(failureOf(run)).toMatchObject({
    kind: 'attachments_failed',
    details: { attachmentErrors: [{ code }] },
  })
})

test('no prompt is needed with an attachment, including a link', async () => {
  const { root } = await place()
  const file = await runCli({ root }, 'run', '--attach', 'notes.txt', '--json')
  expect([file.code, enclosed(file).resources]).toEqual([0, ['@txt1 notes.txt']])
  const link = await runCli({ root }, 'run', '--attach', 'https://example.invalid/a?b=c', '--json')
  expect([link.code, enclosed(link).mode, enclosed(link).resources?.length]).toEqual([
    0,
    'string',
    1,
  ])
  const bare = await runCli({ root }, 'run', '--json')
  expect([bare.code, failureOf(bare).kind]).toEqual([2, 'invalid_args'])
})

test('the prompt can come from standard input beside a file, and its @ words are plain text', async () => {
  const { root } = await place()
  const stdin = 'What do you see in @notes.txt and @img1?\n'
  const run = await runCli({ root, stdin }, 'run', '--attach', 'tiny.png', '--json')
  expect(enclosed(run)).toMatchObject({ resources: ['@img1 tiny.png'], views: [] })
  const again = await runCli({ root, stdin }, 'run', '--continue', '--json')
  expect(enclosed(again)).toMatchObject({ resources: [], views: [] })
})

test('typed @ words attach files and show Resources again, and the text is unchanged', async () => {
  const { root } = await place()
  const text = 'Compare @tiny.png, @notes.txt and a@tiny.png with @gone.png'
  const first = await runCli({ root }, 'run', '--attach', './tiny.png', text, '--json')
  expect(enclosed(first)).toMatchObject({
    resources: ['@img1 tiny.png', '@txt2 notes.txt'],
    errors: [],
  })
  expect(lines(first).find(({ type }) => type === 'user_message')?.data['text']).toBe(text)
  const second = await runCli(
    { root },
    'run',
    '--continue',
    'Look at @img1 and @./tiny.png',
    '--json',
  )
  expect(enclosed(second)).toMatchObject({ resources: ['@img3 tiny.png'], views: ['@img1'] })
  const unknown = await runCli({ root }, 'run', '--continue', 'Look at @img9')
  expect(unknown.code).toBe(0)
  expect(unknown.stderr).toContain('No Resource @img9')
})

test('a refused file is reported with its reason, and the Turn continues with the rest', async () => {
  const { root, workspace } = await place()
  await symlink('tiny.png', join(workspace, 'link.png'))
  const attach = ['bad.zip', 'tiny.png', 'gone.png', 'link.png'].flatMap((one) => ['--attach', one])
  for (const quiet of [[], ['--quiet']]) {
    const run = await runCli({ root }, 'run', ...quiet, ...attach, 'What do you see?')
    expect(run.code).toBe(0)
    expect(run.stderr.split('\n').filter((line) => line.startsWith('✗'))).toEqual([
      expect.stringMatching(/^✗ bad\.zip: .*\.zip/),
      expect.stringMatching(/^✗ gone\.png: /),
      expect.stringMatching(/^✗ link\.png: /),
    ])
    expect(run.stdout).not.toContain('✗')
  }
})

test('[SR-012] [SR-013] a file outside that a person attached is shown, and stays out of reach of every tool', async () => {
  const { root } = await place()
  const outside = join(root, 'crew.txt')
  await writeFile(outside, 'Jan\nPiet\n')
  const shown = await runCli({ root }, 'run', '--attach', outside, '--json', 'What do you see?')
  expect(enclosed(shown)).toMatchObject({ resources: ['@txt1 crew.txt'], errors: [] })
  const attempts = [
    `Read ${outside}`,
    `Write "Klaas" to ${outside}`,
    `Replace "Jan" with "Klaas" in ${outside}`,
  ]
  for (const text of attempts) {
    const args = ['run', '--continue', '--permission', 'auto', '--json', text]
    const results = lines(await runCli({ root }, ...args)).filter(
      ({ type }) => type === 'tool_result',
    )
    expect(results.map(({ data }) => data['error'])).toMatchObject([{ kind: 'outside_workspace' }])
  }
  expect(await readFile(outside, 'utf8')).toBe('Jan\nPiet\n')
})

test('[AT-058] when all files are refused and there is no text, each is named, the exit code is 4, and the Log has it', async () => {
  const { root, workspace } = await place()
  await writeFile(join(workspace, 'evil\u001b[2J.exe'), 'x')
  const attach = ['--attach', 'bad.zip', '--attach', './evil\u001b[2J.exe']
  const run = await runCli({ root }, 'run', ...attach)
  expect([run.code, run.stdout]).toEqual([4, ''])
  expect(run.stderr).not.toContain('\u001b')
  expect(run.stderr).toMatch(/^✗ bad\.zip: .*\n✗ \.\/evil\\u\{1b\}\[2J\.exe: /m)
  const log = await logOf(workspace)
  expect(log.trimEnd().split('\n').at(-1)).toContain('"status":"refused"')
  expect(log).not.toContain('/bad.zip')
  const json = await runCli({ root }, 'run', ...attach, '--json')
  expect([json.code, json.stderr]).toEqual([4, ''])
  expect(failureOf(json)).toMatchObject({
    kind: 'attachments_failed',
    details: {
      category: 'ALL_ATTACHMENTS_FAILED_NO_TEXT',
      attachmentErrors: [
        { path: 'bad.zip', code: 'unsupported_type' },
        { path: './evil\u001b[2J.exe', code: 'invalid_name' },
      ],
      rejectedAttachmentCount: 2,
    },
  })
  // The refused files are in the Log and in no request.
  const request = await runCli({ root }, 'request', '--prompt', 'And now?', '--json')
  const body = Body.parse(JSON.parse(request.stdout)).body
  expect([body.includes('And now?'), /bad\.zip|\.exe|attachment was/.test(body)]).toEqual([
    true,
    false,
  ])
  const next = await runCli({ root }, 'run', '--continue', 'List all files')
  expect(next.code).toBe(0)
})

test('[SR-024] a Session continues from its Log, its blobs and its head alone', async () => {
  const { root, workspace } = await place()
  const first = await runCli({ root }, 'run', '--attach', 'notes.txt', 'What do you see?')
  expect(first.code).toBe(0)
  await rm(join(workspace, 'notes.txt'))
  const removed = await removeUnless(
    root,
    /\.ndjson$|\/blobs\/[0-9a-f]{64}\.\w+$|\/heads\/\w+$|\/workspace\/\w/,
  )
  expect(removed.length).toBeGreaterThan(0)
  const next = await runCli({ root }, 'run', '--continue', 'What is in @txt1 ?', '--json')
  expect([next.code, enclosed(next).views]).toEqual([0, ['@txt1']])
  const proof = await runCli({ root }, 'log', 'verify', '--requests', '--json')
  expect(proof.code).toBe(0)
})

/** Removes every file except these paths, and returns the removed paths. */
async function removeUnless(root: string, kept: RegExp): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )
  const others = files.filter((path) => !kept.test(path))
  for (const path of others) await rm(path)
  return others
}

test('without a clipboard, and with standard input used twice, nothing starts', async () => {
  const { root, workspace } = await place()
  const before = await readdir(workspace)
  const clipboard = await runCli({ root }, 'run', '--attach', 'clipboard', 'Hello', '--json')
  const twice = await runCli({ root }, 'run', '--attach', '-', '--attach', '-', 'Hello', '--json')
  const both = await runCli({ root }, 'run', '--attach', '-', '-', '--json')
  const results = [clipboard, twice, both].map((run) => [run.code, failureOf(run).kind])
  expect(results).toEqual([
    [1, 'unreadable'],
    [2, 'invalid_args'],
    [2, 'invalid_args'],
  ])
  expect(await readdir(workspace)).toEqual(before)
})

test('attachments of the agent are shown to people, and to programs in the result', async () => {
  const { root } = await place()
  const run = await runCli({ root }, 'run', 'Attach tiny.png to your answer.')
  expect(run.stderr).toContain('Attached by the model: @img1 tiny.png')
  const json = await runCli({ root }, 'run', 'Attach tiny.png to your answer.', '--json')
  expect(lines(json).at(-1)).toMatchObject({
    type: 'turn_result',
    ok: true,
    resources: [{ handle: '@img1', name: 'tiny.png', width: 3, height: 2 }],
  })
})

test('a missing payload is reported when it is requested again, and the Turn continues', async () => {
  const { root, workspace } = await place()
  await runCli({ root }, 'run', '--attach', 'tiny.png', 'What do you see?')
  const blobs = join(workspace, '.hawser', 'blobs')
  await registerDamage(root, 'blobs', 'A payload is missing.')
  for (const name of await readdir(blobs)) if (name.endsWith('.png')) await rm(join(blobs, name))
  const run = await runCli({ root }, 'run', '--continue', 'Look at @img1')
  expect(run.code).toBe(0)
  expect(run.stderr).toContain('@img1 cannot be shown: its payload is missing.')
})
