import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { bundleScript } from '../../support/host/bundle-script.ts'
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

/** Runs the program in one folder, several times. */
async function place(): Promise<(...argv: readonly string[]) => Pty> {
  const root = await freshFolder()
  const cwd = join(root, 'workspace')
  await mkdir(cwd)
  const env = { HAWSER_HOME: join(root, 'home') }
  return (...argv) =>
    openPty(process.execPath, [program, ...argv], { columns: 100, rows: 24, cwd, env })
}

const IDLE = /^ask · .*\/help$/m

async function left(chat: Pty): Promise<string> {
  chat.write('\u0004')
  expect((await chat.ended).code).toBe(0)
  return flat(chat)
}

test('a prompt without a command opens the chat with it, and -c and -r come back to it', async () => {
  const hawser = await place()
  const first = hawser('What is in this folder?')
  await first.until('> What is in this folder?')
  await first.until(IDLE)
  const id = /hawser chat --session (ses_\w+)/.exec(await left(first))?.[1]
  const second = hawser('What', 'happened', 'before?')
  await second.until('> What happened before?')
  await second.until(IDLE)
  await left(second)
  const continued = hawser('-c', 'And now?')
  await continued.until('> What happened before?')
  await continued.until('> And now?')
  await continued.until(IDLE)
  await left(continued)
  const resumed = hawser('-r')
  await resumed.until('Sessions of this folder (2)')
  resumed.write('\x1b[B\r')
  await resumed.until('> What is in this folder?')
  await resumed.until(IDLE)
  expect(/hawser chat --session (ses_\w+)/.exec(await left(resumed))?.[1]).toBe(id)
})

test('a search without a match chooses nothing, and Esc leaves', async () => {
  const hawser = await place()
  const none = hawser('--resume')
  expect((await none.ended).code).toBe(1)
  expect(flat(none)).toContain('No Sessions in this folder yet.')
  const first = hawser('What is in this folder?')
  await first.until(IDLE)
  await left(first)
  const wrong = hawser('--resume')
  await wrong.until('Sessions of this folder (1)')
  wrong.write('zzz\r')
  await wrong.until('Nothing matches.')
  wrong.write('\x1b')
  expect((await wrong.ended).code).toBe(130)
  expect(flat(wrong)).toContain('No Session was chosen.')
})
