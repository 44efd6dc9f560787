import { readFile } from 'node:fs/promises'
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

/** `hawser undo` at a terminal, after a Turn that wrote a file and one that ran a command. */
async function undoing(): Promise<{ undo: Pty; left: () => Promise<string> }> {
  const { root, workspace } = await commandPlace()
  const allowed = ['--permission', 'auto']
  const wrote = await runCli({ root }, 'run', 'Write "one" to a.txt', ...allowed)
  const ran = await runCli({ root }, 'run', '--continue', 'Run `printf two > b.txt`', ...allowed)
  expect([wrote.code, ran.code]).toEqual([0, 0])
  const undo = openPty(process.execPath, [program, 'undo'], {
    columns: 100,
    rows: 24,
    cwd: workspace,
    env: { HAWSER_HOME: join(root, 'home') },
  })
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
