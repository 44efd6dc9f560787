import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty, type Pty } from '../../support/cli/pty.ts'
import { choose, QUESTION } from '../../support/cli/question.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

let program = ''

beforeAll(async () => {
  program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
})

async function place(): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  await writeFile(join(root, 'workspace', 'tiny.png'), TINY_IMAGES.png)
  return root
}

function hawser(root: string, env: Readonly<Record<string, string>>, ...argv: string[]): Pty {
  return openPty(process.execPath, [program, ...argv], {
    columns: 80,
    rows: 24,
    cwd: join(root, 'workspace'),
    env: { HAWSER_HOME: join(root, 'home'), ...UNKNOWN, ...env },
  })
}

/** An unknown terminal, wherever this test runs. */
const UNKNOWN = {
  KITTY_WINDOW_ID: '',
  LC_TERMINAL: '',
  STY: '',
  TERM_PROGRAM: '',
  TMUX: '',
  WEZTERM_PANE: '',
}
const KITTY = { KITTY_WINDOW_ID: '1' }

/** The output between the line of an attachment and the answer. */
function below(rows: readonly string[]): string[] {
  const from = rows.indexOf('  @img1 tiny.png · 99 bytes · 3×2')
  const to = rows.findIndex((row, at) => at > from && row.startsWith('@img1 is a PNG picture'))
  return rows.slice(from + 1, to)
}

test('attachments are listed on a terminal, and drawn if it supports images', async () => {
  const argv = ['run', '--attach', 'tiny.png', 'What do you see?']
  const plain = hawser(await place(), {}, ...argv)
  expect((await plain.ended).code).toBe(0)
  expect(below(plain.terminal.all())).toEqual([])
  const kitty = hawser(await place(), KITTY, ...argv)
  expect((await kitty.ended).code).toBe(0)
  expect(below(kitty.terminal.all())).toEqual([''])
  expect(kitty.raw()).toContain(`;${TINY_IMAGES.png.toString('base64')}\u001b\\`)
  const root = await place()
  await runCli({ root }, 'config', 'set', 'display.pictures', 'never')
  const never = hawser(root, KITTY, ...argv)
  expect((await never.ended).code).toBe(0)
  expect(below(never.terminal.all())).toEqual([])
})

test.each([
  ['1', /^@img1 is a PNG picture/m],
  ['3', /withheld|not shown|not sent|permitted/i],
])(
  'with the setting ask, an upload is asked about by handle, name and size: %s',
  async (choice, answer) => {
    const root = await place()
    await runCli({ root }, 'config', 'set', 'resources.upload', 'ask')
    const run = hawser(root, {}, 'run', '--attach', 'tiny.png', 'What do you see?')
    await run.until(QUESTION)
    expect(run.terminal.all()).toContain('? Send @img1 tiny.png (99 bytes) to the model?')
    await choose(run, choice)
    expect((await run.ended).code).toBe(0)
    expect(run.terminal.all().join('\n')).toMatch(answer)
  },
)
