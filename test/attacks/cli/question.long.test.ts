import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty, type Pty } from '../../support/cli/pty.ts'
import { choose, QUESTION } from '../../support/cli/question.ts'
import { HOSTILE_INPUTS } from './question-inputs.ts'

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
  const size = { columns: 80, rows: 30 }
  return {
    ...openPty(process.execPath, [program, ...argv], { ...size, cwd: workspace, env }),
    workspace,
  }
}

/** The answers in the Log. */
async function decisions(workspace: string): Promise<readonly string[]> {
  const folder = join(workspace, '.hawser', 'sessions')
  const name = (await readdir(folder)).find((one) => one.endsWith('.ndjson')) ?? ''
  const lines = (await readFile(join(folder, name), 'utf8')).trimEnd().split('\n')
  return lines.filter((line) => line.includes('"type":"permission_decision"'))
}

/** The question is unchanged: it accepts a choice, and letters cancel the choice. */
async function stillAsks(pty: Pty): Promise<void> {
  const again = setInterval(() => pty.write('2'), 600)
  await pty.until(/^❯ 2 /m).finally(() => clearInterval(again))
  pty.write('x')
  await pty.until((rows) => !/^❯ /m.test(rows.join('\n')))
}

async function attacked(pty: Pty & { readonly workspace: string }): Promise<void> {
  for (const { pieces } of HOSTILE_INPUTS) {
    for (const piece of pieces) pty.write(piece)
    await stillAsks(pty)
  }
  for (const [columns, rows] of [
    [40, 10],
    [200, 60],
    [12, 5],
    [80, 30],
  ] as const) {
    await pty.resize(columns, rows)
  }
  await stillAsks(pty)
  expect(await decisions(pty.workspace)).toEqual([])
}

test('no hostile input answers a question of a run', { timeout: 120_000 }, async () => {
  const run = await hawser('run', 'Write "hi" to a.txt')
  await run.until(QUESTION)
  await attacked(run)
  await choose(run, '1')
  expect((await run.ended).code).toBe(0)
  expect(await decisions(run.workspace)).toHaveLength(1)
})

test(
  'no hostile input answers a question of a chat, and the draft is unchanged',
  { timeout: 120_000 },
  async () => {
    const chat = await hawser()
    await chat.until(/^ask · .*\/help$/m)
    chat.write('Write "hi" to a.txt\r')
    await chat.until(QUESTION)
    // No caret: keys go to the question.
    expect(chat.terminal.screen()).toContain('>')
    await attacked(chat)
    expect(chat.terminal.screen()).toContain('>')
    await choose(chat, '1')
    await chat.until(/^ask · .*\/help$/m)
    expect(chat.terminal.screen()).toContain('>')
    expect(await decisions(chat.workspace)).toHaveLength(1)
    chat.write('\u0004')
    expect((await chat.ended).code).toBe(0)
  },
)

test('only Ctrl-C interrupts at a question', async () => {
  const run = await hawser('run', 'Write "hi" to a.txt')
  await run.until(QUESTION)
  run.write('\u0003')
  expect((await run.ended).code).toBe(130)
})
