import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Diffed } from '../../../src/presenters/cli/commands/diff.ts'
import { Output as Swept } from '../../../src/presenters/cli/commands/gc.ts'
import { Output as Requested } from '../../../src/presenters/cli/commands/request.ts'
import { Output as Undone } from '../../../src/presenters/cli/commands/undo.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace, corruptLog } from '../../support/session/write-log.ts'

const run = promisify(execFile)

/** A Session with these prompts, in which everything was allowed. */
async function sessionWith(root: string, ...prompts: readonly string[]): Promise<SessionId> {
  for (const [at, prompt] of prompts.entries()) {
    const which = at === 0 ? [] : ['--continue']
    const { code } = await runCli({ root }, 'run', '--permission', 'auto', ...which, prompt)
    expect(code).toBe(0)
  }
  const { stdout } = await runCli({ root }, 'sessions', '--json')
  return SessionId.parse(/"session_id":"(\w+)"/.exec(stdout)?.[1])
}

test('files are restored, and one that changed since is left alone and reported', async () => {
  const { root, workspace } = await commandPlace()
  await writeFile(join(workspace, 'a.txt'), 'old\n')
  const id = await sessionWith(
    root,
    'Replace "old" with "new" in a.txt and then write "b" to b.txt',
  )
  await writeFile(join(workspace, 'b.txt'), 'mine')
  const partly = await runCli({ root }, 'undo', id, '--json')
  expect(partly.code).toBe(1)
  expect(Undone.parse(JSON.parse(partly.stdout))).toMatchObject({
    session_id: id,
    all_restored: false,
    files: [
      { path: 'a.txt', outcome: 'restored' },
      { path: 'b.txt', outcome: 'changed_since' },
    ],
  })
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('old\n')
  expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('mine')
  await writeFile(join(workspace, 'b.txt'), 'b')
  const whole = await runCli({ root }, 'undo', 'latest', '1')
  expect([whole.code, whole.stderr]).toEqual([0, ''])
  expect(whole.stdout).toMatch(/restored +a\.txt\n +removed +b\.txt\nTo take it back: hawser redo /)
  await expect(access(join(workspace, 'b.txt'))).rejects.toThrow('ENOENT')
  expect(failureOf(await runCli({ root }, 'undo', id, '--json')).kind).toBe('not_found')
})

test('the output of diff reproduces the changes with patch', async () => {
  const { root, workspace } = await commandPlace()
  await writeFile(join(workspace, 'a.txt'), 'one\ntwo\n')
  await sessionWith(
    root,
    'Replace "two" with "2" in a.txt',
    'Write "fresh" to "my notes.txt" and then replace "one" with "1" in a.txt',
  )
  const { code, stdout, stderr } = await runCli({ root }, 'diff', 'latest')
  expect([code, stderr]).toEqual([0, ''])
  const copy = join(root, 'copy')
  await mkdir(copy)
  await writeFile(join(copy, 'a.txt'), 'one\ntwo\n')
  await writeFile(join(root, 'patch'), stdout)
  await run('patch', ['-p1', '--silent', '-i', '../patch'], { cwd: copy })
  expect(await readFile(join(copy, 'a.txt'), 'utf8')).toBe('1\n2\n')
  expect(await readFile(join(copy, 'my notes.txt'), 'utf8')).toBe('fresh')
  const first = Diffed.parse(
    JSON.parse((await runCli({ root }, 'diff', 'latest', '1', '--json')).stdout),
  )
  expect(first.files.map(({ path, change, text }) => ({ path, change, text }))).toEqual([
    { path: 'a.txt', change: 'changed', text: true },
  ])
  expect(first.files[0]?.diff).toContain('-two\n+2\n')
})

test('undo and diff name the commands that they do not cover, and undo reverts no older Turn unasked', async () => {
  const { root, workspace } = await commandPlace()
  const snapshots = join(root, 'home/snapshots')
  await mkdir(join(root, 'home'), { mode: 0o700 })
  await writeFile(snapshots, 'No snapshot can be stored here.')
  const id = await sessionWith(root, 'Write "one" to a.txt', 'Run `printf two > a.txt`')
  await rm(snapshots)
  const refused = await runCli({ root }, 'undo')
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toContain('Turn 2: "printf two > a.txt"')
  expect(refused.stderr).toContain(`\nTry: hawser undo ${id} 1\n`)
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('two')
  const diff = await runCli({ root }, 'diff')
  expect(diff.stdout).toContain('+one')
  expect(diff.stderr).toContain('Turn 2: "printf two > a.txt"\n')
  const json = Diffed.parse(JSON.parse((await runCli({ root }, 'diff', '2', '--json')).stdout))
  expect(json).toMatchObject({ undone: false, files: [], uncovered: [{ turn: 2, by: 'model' }] })
  await writeFile(join(workspace, 'a.txt'), 'one')
  expect((await runCli({ root }, 'undo', '1')).code).toBe(0)
  const after = await runCli({ root }, 'diff')
  expect([after.stdout, after.stderr]).toEqual(['', expect.stringContaining('no file changes')])
  const undone = await runCli({ root }, 'diff', '1')
  expect([undone.stdout, undone.stderr]).toEqual([
    expect.stringContaining('+one'),
    expect.stringContaining('this Turn is undone'),
  ])
})

test('a coloured diff contains no control characters from outside', async () => {
  const { root, workspace } = await commandPlace()
  await writeFile(join(workspace, 'a.txt'), 'one \x1b[2J\n')
  const id = await sessionWith(root, 'Replace "one" with "two" in a.txt')
  const raw = await runCli({ root }, 'diff', id)
  expect(raw.stdout).toContain('\x1b[2J')
  await runCli({ root }, 'config', 'set', 'display.colour', 'always')
  const { stdout } = await runCli({ root }, 'diff', id)
  // The word that changed is emphasised, the rest of its line is not.
  expect(stdout).toContain('\x1b[31m-\x1b[0m\x1b[31;7mone\x1b[0m\x1b[31m \\u{1b}[2J\x1b[0m')
  expect(stdout).not.toContain('\x1b[2J')
})

test('a Session without file changes has an empty diff and a note on standard error', async () => {
  const { root } = await commandPlace()
  await sessionWith(root, 'List all files')
  const { code, stdout, stderr } = await runCli({ root }, 'diff', 'latest')
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).not.toBe('')
  expect(failureOf(await runCli({ root }, 'diff', 'latest', '1', '--json')).kind).toBe('not_found')
  expect(failureOf(await runCli({ root }, 'diff', 'latest', '2', '--json')).kind).toBe('not_found')
})

test('pinned text is in the Log, and empty text is refused', async () => {
  const { root } = await commandPlace()
  const id = await sessionWith(root, 'List all files')
  expect((await runCli({ root }, 'pin', id, 'The', 'release is  on Friday.')).code).toBe(0)
  const { stdout } = await runCli({ root }, 'log', 'show', id, '--json')
  expect(stdout).toContain('"text":"The release is  on Friday."')
  const blank = await runCli({ root }, 'pin', id, ' ', '--json')
  expect([blank.code, failureOf(blank).kind]).toEqual([2, 'invalid_args'])
})

test('the request that is shown is the request that is sent, byte for byte', async () => {
  const { root } = await commandPlace()
  const id = await sessionWith(root, 'List all files')
  const { code, stdout, stderr } = await runCli({ root }, 'request', id, '--prompt', 'And now?')
  expect([code, stderr]).toEqual([0, ''])
  const sha256 = createHash('sha256').update(stdout).digest('hex')
  const piped = await runCli({ root, stdin: 'And now?' }, 'request', id, '--json')
  expect(Requested.parse(JSON.parse(piped.stdout))).toEqual({
    ok: true,
    session_id: id,
    dialect: 'rehearsal',
    sha256,
    bytes: Buffer.byteLength(stdout),
    body: stdout,
  })
  const sent = await runCli({ root }, 'run', '--session', id, '--json', 'And now?')
  expect(sent.stdout).toContain(`"request_sha256":"${sha256}"`)
})

test('a request without a prompt is refused', async () => {
  const { root } = await commandPlace()
  const id = await sessionWith(root, 'List all files')
  for (const [argv, stdin] of [
    [[], ''],
    [['--prompt', ' '], ''],
    [[], Buffer.from([0xff])],
  ] as const) {
    const refused = await runCli({ root, stdin }, 'request', id, ...argv, '--json')
    expect([refused.code, failureOf(refused).kind]).toEqual([2, 'invalid_args'])
  }
  const long = await runCli({ root, stdin: 'x'.repeat(2 ** 20 + 1) }, 'request', id, '--json')
  expect([long.code, failureOf(long).kind]).toEqual([2, 'too_large'])
})

test('gc counts first, then deletes only blobs that are old and unreferenced', async () => {
  const { root, workspace } = await commandPlace()
  await sessionWith(root, 'Write "one" to a.txt')
  const blobs = join(workspace, '.hawser', 'blobs')
  const kept = (await readdir(blobs)).filter((name) => !name.startsWith('.')).toSorted()
  const lost = `${createHash('sha256').update('lost').digest('hex')}.txt`
  await writeFile(join(blobs, lost), 'lost')
  const young = await runCli({ root }, 'gc', '--json')
  expect(Swept.parse(JSON.parse(young.stdout)).deleted).toEqual([])
  await utimes(join(blobs, lost), 1, 1)
  const figures = {
    kept: kept.length,
    deleted: [lost],
    deleted_sessions: 0,
    snapshot_bytes: 0,
    instances: [],
    freed_bytes: 4,
    unbegun: 0,
    writing: [],
  }
  const dry = await runCli({ root }, 'gc', '--dry-run', '--json')
  expect(JSON.parse(dry.stdout)).toEqual({ ok: true, dry_run: true, ...figures })
  expect(await readdir(blobs)).toContain(lost)
  const { code, stdout } = await runCli({ root }, 'gc')
  expect([code, stdout]).toEqual([0, `1 blob (4 bytes) was deleted, ${kept.length} kept.\n`])
  expect((await readdir(blobs)).filter((name) => !name.startsWith('.')).toSorted()).toEqual(kept)
})

const NAMES = [
  '../../x',
  '',
  '.',
  'ses_',
  'ses_../../../../etc/passwd',
  '\x1b[2J',
  'x'.repeat(5000),
]
const ABOUT_A_SESSION: readonly (readonly [string, ...string[]])[] = [
  ['undo'],
  ['diff'],
  ['pin', 'text'],
  ['request', '--prompt', 'x'],
  ['trust'],
]

test.each(ABOUT_A_SESSION)('hawser %s refuses an invalid name', async (command, ...rest) => {
  const { root } = await commandPlace()
  await sessionWith(root, 'List all files')
  for (const name of NAMES) {
    const ran = await runCli({ root }, command, name, ...rest, '--json')
    expect([name, ran.code, failureOf(ran).kind]).toEqual([name, 2, 'invalid_args'])
    // A bad id is never echoed.
    if (name.length > 4) expect(failureOf(ran).message).not.toContain(name)
  }
  const option = await runCli({ root }, command, '-rf', ...rest, '--json')
  expect([option.code, failureOf(option).kind]).toEqual([2, 'invalid_args'])
  const escaped = await runCli({ root }, command, '--json', '--', '-rf', ...rest)
  expect([escaped.code, failureOf(escaped).kind]).toEqual([2, 'invalid_args'])
  const absent = await runCli(
    { root },
    command,
    'ses_01kg8m2q3r4s5t6v7w8x9y0z12',
    ...rest,
    '--json',
  )
  expect([absent.code, failureOf(absent).kind]).toEqual([1, 'not_found'])
})

test.each(ABOUT_A_SESSION)(
  'hawser %s needs a folder that Hawser was used in',
  async (command, ...rest) => {
    const { root } = await commandPlace()
    const never = await runCli({ root }, command, 'latest', ...rest, '--json')
    expect([never.code, failureOf(never).kind]).toEqual([1, 'not_found'])
    const at = ['--workspace', join(root, 'nowhere')]
    const nowhere = await runCli({ root }, command, 'latest', ...rest, ...at, '--json')
    expect([nowhere.code, failureOf(nowhere).kind]).toEqual([1, 'not_found'])
  },
)

test('a damaged Session is not changed', async () => {
  const { root, workspace } = await commandPlace()
  const id = await sessionWith(root, 'Write "one" to a.txt')
  await corruptLog(root, id, (text) => text.replace('"turn_started"', '"turn_begun"'))
  for (const argv of [
    ['undo', id],
    ['pin', id, 'x'],
    ['request', id, '--prompt', 'x'],
  ]) {
    const ran = await runCli({ root }, ...argv, '--json')
    expect([ran.code, failureOf(ran).kind]).toEqual([1, 'log_damaged'])
  }
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one')
})
