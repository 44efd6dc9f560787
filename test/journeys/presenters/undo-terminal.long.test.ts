import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace } from '../../support/session/write-log.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty, type Pty } from '../../support/cli/pty.ts'
import { flat } from '../../support/presenters/open-chat.ts'

let program = ''
beforeAll(async () => {
  program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
})

const ASKED = 'Undo that Turn, and leave the rest as it is? [y/N]'

const ALLOWED = ['--permission', 'auto']

function opened(root: string, workspace: string, ...args: string[]): Pty {
  return openPty(process.execPath, [program, ...args], {
    columns: 100,
    rows: 24,
    cwd: workspace,
    env: { HAWSER_HOME: join(root, 'home') },
  })
}

/** `hawser undo` at a terminal, after a Turn that wrote a file and one that ran a command without snapshots. */
async function undoing(): Promise<{ undo: Pty; left: () => Promise<string> }> {
  const { root, workspace } = await commandPlace()
  const wrote = await runCli({ root }, 'run', 'Write "one" to a.txt', ...ALLOWED)
  const snapshots = join(root, 'home', 'snapshots')
  await writeFile(snapshots, 'No snapshot can be stored here.')
  const ran = await runCli({ root }, 'run', '--continue', 'Run `printf two > b.txt`', ...ALLOWED)
  await rm(snapshots)
  expect([wrote.code, ran.code]).toEqual([0, 0])
  const undo = opened(root, workspace, 'undo')
  await undo.until(ASKED)
  expect(flat(undo)).toContain('Turn 2: "printf two > b.txt"')
  const left = () => readFile(join(workspace, 'a.txt'), 'utf8').catch(() => 'removed')
  expect(await left()).toBe('one')
  return { undo, left }
}

test.each(['y\r', 'yes\r'])(
  'at a terminal, undo asks before it reverts a Turn older than a command, and %j confirms',
  async (typed) => {
    const { undo, left } = await undoing()
    undo.write(typed)
    expect((await undo.ended).code).toBe(0)
    expect([await left(), flat(undo)]).toEqual(['removed', expect.stringContaining('removed')])
  },
)

test.each([
  ['Enter', '\r'],
  ['n', 'n\r'],
  ['another word', 'yess\r'],
  ['Ctrl-D', '\u0004'],
  ['Ctrl-C', '\u0003'],
])('at a terminal, undo changes nothing after %s', async (_, typed) => {
  const { undo, left } = await undoing()
  undo.write(typed)
  expect(await undo.ended).not.toEqual({ code: 0, signal: 0 })
  expect(await left()).toBe('one')
})

test('at a terminal, undo and redo ask before they overwrite what something else changed since', async () => {
  const { root, workspace } = await commandPlace()
  const path = (name: string) => join(workspace, name)
  await writeFile(path('a.txt'), 'one')
  const ran = await runCli(
    { root },
    'run',
    'Run `printf two > a.txt; printf two > b.txt`',
    ...ALLOWED,
  )
  expect(ran.code).toBe(0)
  await writeFile(path('a.txt'), 'mine')
  const question = 'Something else changed these files since. Overwrite them? [y/N]'

  const kept = opened(root, workspace, 'undo')
  await kept.until(question)
  expect(flat(kept)).toMatch(/not restored: changed since +a\.txt/)
  kept.write('n\r')
  expect((await kept.ended).code).toBe(1)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine')

  const overwritten = opened(root, workspace, 'undo')
  await overwritten.until(question)
  overwritten.write('y\r')
  expect((await overwritten.ended).code).toBe(0)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one')

  await writeFile(path('a.txt'), 'mine again')
  const redone = opened(root, workspace, 'redo')
  await redone.until(question)
  redone.write('y\r')
  expect((await redone.ended).code).toBe(0)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine')
  expect(await readFile(path('b.txt'), 'utf8')).toBe('two')
})
