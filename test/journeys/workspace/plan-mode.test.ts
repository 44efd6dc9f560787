import { access, readFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { choose, QUESTION } from '../../support/cli/question.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { flat, leave, logOf, messagesIn, openChat } from '../../support/presenters/open-chat.ts'

const SHIFT_TAB = '\u001b[Z'

function settings(events: readonly WholeEvent[]) {
  return events.flatMap((event) => (event.type === 'session_settings' ? [event.data] : []))
}

function lateModes(events: readonly WholeEvent[]) {
  return events.flatMap((event) =>
    event.type === 'late_context' ? [`${event.data.mode} ${event.data.permission_mode}`] : [],
  )
}

function cacheModes(events: readonly WholeEvent[]) {
  return new Set(
    events.flatMap((event) =>
      event.type === 'provider_request' ? [/:r_(\w+):/.exec(event.data.cache_key)?.[1]] : [],
    ),
  )
}

test('plan mode is left by /build and entered by /plan; the status line and the model know', async () => {
  const chat = await openChat({ mode: 'plan', permission: 'auto' })
  await chat.until(/^plan, read-only · .*\/help$/m)
  chat.say('Write "x" to out.txt')
  await chat.turns(1)
  await expect(access(join(chat.workspace, 'out.txt'))).rejects.toThrow('ENOENT')
  chat.say('/build')
  await chat.until(/^auto · .*\/help$/m)
  chat.say('Write "x" to out.txt')
  await chat.turns(2)
  expect(await readFile(join(chat.workspace, 'out.txt'), 'utf8')).toBe('x')
  chat.say('/plan')
  await chat.until(/^plan, read-only · .*\/help$/m)
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  expect(settings(events)).toEqual([{ mode: 'build' }, { mode: 'plan' }])
  expect(lateModes(events)).toEqual(['plan read-only', 'build auto'])
  expect(cacheModes(events)).toEqual(new Set(['plan']))
})

test('Shift-Tab cycles through plan, ask and auto, and does not change the draft', async () => {
  const chat = await openChat({ mode: 'plan' })
  chat.write('half a word')
  await chat.until('half a word')
  for (const shown of [
    /^ask · .*\/help$/m,
    /^auto · .*\/help$/m,
    /^plan, read-only · .*\/help$/m,
  ]) {
    chat.write(SHIFT_TAB)
    await chat.until(shown)
  }
  await chat.until('> half a word')
  chat.write('\u0015')
  chat.write(SHIFT_TAB)
  await chat.until(/^ask · .*\/help$/m)
  chat.say('/permission read-only')
  await chat.until(/^read-only · .*\/help$/m)
  chat.write(SHIFT_TAB)
  await chat.until(/^ask · .*\/help$/m)
  expect(await leave(chat)).toBe(0)
})

test('Shift-Tab changes the mode in place, also while a question waits, and prints nothing', async () => {
  const chat = await openChat()
  chat.say('Write "x" to out.txt')
  await chat.until(QUESTION)
  chat.write(SHIFT_TAB)
  await chat.until('Mode: auto')
  chat.write('\u0003')
  await chat.until(/^Interrupted\.$/m)
  expect(flat(chat)).not.toContain('Permission mode: auto')
  expect(await leave(chat)).toBe(0)
  expect(settings(await logOf(chat.root))).toEqual([{ permission_mode: 'auto' }])
})

test('a question offers yes together with auto, and then asks no more', async () => {
  const chat = await openChat()
  chat.say('Write "x" to out.txt')
  await chat.until('Yes, once, and switch to auto')
  const number = /(\d) +Yes, once, and switch to auto/.exec(flat(chat))?.[1] ?? ''
  await choose(chat, number)
  await chat.turns(1)
  await chat.until(/^auto · .*\/help$/m)
  chat.say('Write "y" to other.txt')
  await chat.turns(2)
  expect(settings(await logOf(chat.root))).toEqual([{ permission_mode: 'auto' }])
})

test('a plan of plan mode is approved, which leaves plan mode and tells the model', async () => {
  const chat = await openChat({ mode: 'plan' })
  chat.say('Make a plan: look around, then write notes.txt')
  await chat.until('Carry out this plan?')
  await choose(chat, '2')
  await chat.until(/^auto · .*\/help$/m)
  await chat.turns(2)
  const events = await logOf(chat.root)
  expect(settings(events)).toEqual([{ mode: 'build', permission_mode: 'auto' }])
  expect(messagesIn(events).at(-1)).toBe('The plan is approved. Carry it out.')
})

test('/permission auto in plan mode reports the limit, and takes effect after /build', async () => {
  const chat = await openChat({ mode: 'plan' })
  chat.say('/permission auto')
  await chat.until('Plan mode limits this Session to read-only')
  await chat.until(/^plan, read-only · .*\/help$/m)
  chat.say('/permission')
  await chat.until('/build changes to auto')
  chat.say('/build')
  await chat.until(/^auto · .*\/help$/m)
  expect(flat(chat)).toContain('Mode: build')
})

test('a resumed Session has the mode it was left in, and --mode changes it', async () => {
  const root = await freshFolder()
  await mkdir(join(root, 'workspace'))
  const write = 'Write "x" to out.txt'
  await runCli({ root }, 'run', '--mode', 'plan', '--permission', 'auto', 'Hello')
  const still = await runCli({ root }, 'run', '--continue', '--permission', 'auto', write)
  expect(still.stderr).toContain('plan mode limits this Session to read-only')
  const out = join(root, 'workspace', 'out.txt')
  await expect(access(out)).rejects.toThrow('ENOENT')
  const built = await runCli({ root }, 'run', '--continue', '--mode', 'build', write)
  expect([built.code, await readFile(out, 'utf8')]).toEqual([0, 'x'])
  await runCli({ root }, 'run', '--continue', write)
  const events = await logOf(root)
  expect(lateModes(events)).toEqual(['plan read-only', 'build auto'])
  expect(cacheModes(events)).toEqual(new Set(['plan']))
  expect((await runCli({ root }, 'log', 'verify', 'latest', '--requests')).code).toBe(0)
})
