import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty, type Pty } from '../../support/cli/pty.ts'
import { choose, QUESTION } from '../../support/cli/question.ts'

let program = ''

beforeAll(async () => {
  program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
})

async function hawser(...argv: readonly string[]): Promise<Pty & { readonly workspace: string }> {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  const env = { HAWSER_HOME: join(root, 'home') }
  const pty = openPty(process.execPath, [program, ...argv], {
    columns: 80,
    rows: 24,
    cwd: workspace,
    env,
  })
  return { ...pty, workspace }
}

test('on a terminal a Turn shows the whole change, and a chosen and confirmed yes allows it', async () => {
  const run = await hawser('run', 'Write "hi" to a.txt')
  await run.until(QUESTION)
  const rows = run.terminal.all()
  expect(rows).toContain('I will write 2 characters to a.txt.')
  expect(rows).toContain('? write a.txt')
  expect(rows).toContain('  1 + hi')
  await choose(run, '1')
  expect((await run.ended).code).toBe(0)
  expect(await readFile(join(run.workspace, 'a.txt'), 'utf8')).toBe('hi')
  expect(run.terminal.all()).toContain('  Yes, once.')
  expect(run.terminal.all()).toContain('● write a.txt · created')
})

test('a denial is recorded with its reason', async () => {
  const run = await hawser('run', 'Write "hi" to a.txt')
  await run.until(QUESTION)
  run.write('x')
  await run.until(QUESTION)
  await choose(run, '6', 'use b.txt')
  expect((await run.ended).code).toBe(0)
  await expect(access(join(run.workspace, 'a.txt'))).rejects.toThrow('ENOENT')
  expect(run.terminal.all()).toContain('  No: use b.txt')
  expect(run.terminal.all().join('\n')).toContain('Their reason: use b.txt')
})

test('Ctrl-C at a question interrupts the Turn', async () => {
  const run = await hawser('run', 'Write "hi" to a.txt')
  await run.until(QUESTION)
  run.write('\u0003')
  expect((await run.ended).code).toBe(130)
  const names = await readdir(join(run.workspace, '.hawser', 'sessions'))
  const log = names.find((name) => name.endsWith('.ndjson')) ?? ''
  expect(await readFile(join(run.workspace, '.hawser', 'sessions', log), 'utf8')).toMatch(
    /"type":"turn_ended","data":\{"status":"interrupted"/,
  )
})

test('without arguments it starts a chat, and a chat without a Turn leaves no Session', async () => {
  const chat = await hawser()
  await chat.until(/^ask · .*\/help$/m)
  chat.write('/quit\r')
  expect((await chat.ended).code).toBe(0)
  const left = await readdir(join(chat.workspace, '.hawser', 'sessions'))
  expect(left.filter((name) => name.endsWith('.ndjson'))).toEqual([])
})
