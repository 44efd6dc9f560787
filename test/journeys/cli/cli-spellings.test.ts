import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { runCli, type CliRun } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'

const Result = z.looseObject({
  type: z.literal('turn_result'),
  session_id: z.string(),
  text: z.string(),
})

async function place(): Promise<(...argv: readonly string[]) => Promise<CliRun>> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await writeFile(join(root, 'workspace', 'notes.txt'), 'rope\n')
  return (...argv) => runCli({ root }, ...argv)
}

test('-p runs one Turn, and -c, -r and --resume with an id continue its Session', async () => {
  const hawser = await place()
  const first = await hawser('-p', 'Read notes.txt')
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('rope')])
  const ids = new Set<string>()
  for (const argv of [
    ['--print', '-c', 'What?'],
    ['-c', '-p', 'What?'],
    ['-r', 'latest', '-p', 'What?'],
    ['run', '--resume', 'latest', 'What?'],
  ]) {
    const { code, stdout } = await hawser(...argv, '--output', 'json')
    expect(code).toBe(0)
    ids.add(Result.parse(JSON.parse(stdout)).session_id)
  }
  expect(ids.size).toBe(1)
})

test('--output json prints one object, and stream-json what --json prints', async () => {
  const hawser = await place()
  const one = await hawser('run', 'Read notes.txt', '--output', 'json')
  expect([one.code, one.stderr, one.stdout.trimEnd().split('\n').length]).toEqual([0, '', 1])
  expect(Result.parse(JSON.parse(one.stdout)).text).toContain('rope')
  const all = await hawser('run', 'Read notes.txt', '--output=stream-json')
  const lines = all.stdout.trimEnd().split('\n')
  expect([all.code, all.stderr, lines.length > 5]).toEqual([0, '', true])
  expect(Result.safeParse(JSON.parse(lines.at(-1) ?? '')).success).toBe(true)
  const text = await hawser('run', 'Read notes.txt', '--output', 'text', '--quiet')
  expect([text.code, text.stdout]).toEqual([0, Result.parse(JSON.parse(one.stdout)).text + '\n'])
})

test('an error is JSON whenever JSON was requested, and text otherwise', async () => {
  const hawser = await place()
  for (const argv of [
    ['run', '--output', 'json', '--bogus', 'x'],
    ['run', '--output=stream-json', '--timeout', 'no', 'x'],
    ['run', '--output', 'json', '--session', 'ses_none', 'x'],
    ['run', '--output', 'json', '--json', 'x'],
  ]) {
    const { code, stdout, stderr } = await hawser(...argv)
    expect([code > 0, stderr]).toEqual([true, ''])
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { message: expect.any(String) } })
  }
  const { stdout, stderr } = await hawser('run', '--output', 'text', '--bogus', 'x')
  expect([stdout, stderr]).toEqual(['', expect.stringContaining('Unknown option')])
})

test('help CMD prints the help of that command', async () => {
  const hawser = await place()
  expect(await hawser('help')).toEqual(await hawser('--help'))
  expect(await hawser('help', 'log', 'export')).toEqual(await hawser('log', 'export', '--help'))
  expect(await hawser('help', 'xyzzy')).toMatchObject({ code: 2 })
  // A group of commands without one of them.
  const group = await hawser('log')
  expect([group.code, group.stdout]).toEqual([0, expect.stringContaining('Usage: hawser log')])
  expect(group).toEqual(await hawser('help', 'log'))
  const { stdout } = await hawser('--help')
  for (const spelling of ['hawser "PROMPT"', 'hawser -p "PROMPT"', 'hawser -c', 'hawser -r [ID]'])
    expect(stdout).toContain(spelling)
})

test('what people try is answered with what to do instead', async () => {
  const hawser = await place()
  for (const [argv, expected] of [
    [['login'], 'Hawser has no accounts'],
    [['update'], 'npm install --global hawser@latest'],
    [['xyzzy'], 'Unknown command "xyzzy".\nTry: hawser run "xyzzy"\nTry: hawser --help\n'],
    [['commit'], 'Unknown command "commit". Did you mean compact or config?\nTry: hawser --help\n'],
    [['plan'], 'Try: hawser --mode plan'],
    [['sesions', 'delete', 'latest'], 'Did you mean sessions?'],
    // Without a terminal there is no conversation.
    [['Fix the tests'], 'Try: hawser -p "What is in this folder?"'],
    [['-c'], 'hawser chat requires a terminal.'],
    [['-p', '-r', 'What happened?'], '--resume requires the id of a Session here.'],
    [['-p', '-c', '-r', 'latest', 'x'], 'Pass only one of --session, --continue and --resume.'],
  ] as const) {
    const { code, stderr } = await hawser(...argv)
    expect([argv, code, stderr]).toEqual([argv, 2, expect.stringContaining(expected)])
  }
})

test('a usage error that a command finds names the help of that command', async () => {
  const hawser = await place()
  const { code, stderr } = await hawser('permissions', 'allow')
  expect(code).toBe(2)
  expect(stderr).toContain('\nTry: hawser permissions allow --help\n')
})
