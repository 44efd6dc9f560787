import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  flat,
  leave,
  logOf,
  messagesIn,
  openChat,
  type OpenChat,
} from '../../support/presenters/open-chat.ts'

const [ESCAPE, TAB, CTRL_O, ALT_UP] = ['\u001b', '\t', '\u000f', '\u001b[1;3A'] as const

/** Lets pieces of the answer arrive until this condition holds. */
async function release(chat: OpenChat, until: () => boolean): Promise<void> {
  while (!until()) {
    process.kill(chat.pid, 'SIGUSR2')
    await chat.until(() => true)
    await new Promise(setImmediate)
  }
}

test('Ctrl-O opens the whole transcript, searches it and copies from it, and Esc returns to the same screen', async () => {
  const chat = await openChat({ rows: 16 })
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at} of many`)
  await writeFile(join(chat.workspace, 'long.txt'), `${lines.join('\n')}\n`)
  chat.say('Read long.txt')
  await chat.turns(1)
  chat.write('draft')
  await chat.until('> draft')
  const before = chat.terminal.screen()
  expect(before.join('\n')).not.toContain('line 30 of many')
  chat.write(CTRL_O)
  await chat.until(/^Transcript · /m)
  chat.write('/line 30 of\r')
  await chat.until('line 30 of many')
  chat.write('g')
  await chat.until(/^── Turn · /m)
  // The message, not the line that begins its Turn.
  chat.write('y')
  await chat.until(/^Copied 13 characters: Read long.txt/m)
  chat.write(ESCAPE)
  await chat.until('> draft')
  expect(chat.terminal.screen()).toEqual(before)
  chat.write('\u0015')
  expect(await leave(chat)).toBe(0)
})

test('Tab queues for after the Turn, Alt-Up takes the last back, and the queue is sent in order', async () => {
  const chat = await openChat({ gated: true, chunk: 64 })
  chat.say('What happened?')
  await chat.until('Tab queues')
  for (const text of ['second', 'third', 'fourth']) {
    chat.write(text)
    await chat.until(`> ${text}▏`)
    chat.write(TAB)
    await chat.until((rows) => rows.some((row) => row.endsWith(`. ${text}`)))
  }
  await chat.until('3 queued')
  chat.write(ALT_UP)
  await chat.until('> fourth▏')
  await chat.until('2 queued')
  chat.write('\u0015')
  const ended = () => flat(chat).split('tokens in (').length - 1
  await release(chat, () => ended() === 3)
  expect(messagesIn(await logOf(chat.root))).toEqual(['What happened?', 'second', 'third'])
})

test('text that is entered while its Turn is still being recorded steers that Turn', async () => {
  const chat = await openChat({ gated: true })
  chat.say('What happened?')
  chat.say('be brief')
  await chat.until('↳ steering: be brief')
  chat.write(ESCAPE)
  await chat.until('> be brief')
  await chat.until(/^Interrupted\.$/m)
  expect(messagesIn(await logOf(chat.root))).toEqual(['What happened?'])
  chat.write('\u0015')
  expect(await leave(chat)).toBe(0)
})

test('what steers a Turn and was not received returns to the input when the Turn is interrupted', async () => {
  const chat = await openChat({ gated: true })
  chat.say('What happened?')
  await chat.until('Enter steers')
  chat.say('be brief')
  await chat.until('↳ steering: be brief')
  chat.write('queued')
  await chat.until('> queued▏')
  chat.write(TAB)
  await chat.until('1 queued')
  chat.write(ESCAPE)
  await chat.until(/^Interrupted\.$/m)
  await chat.until('> be brief')
  await chat.until('1 queued message held · Tab sends the first')
  expect(messagesIn(await logOf(chat.root))).toEqual(['What happened?'])
  chat.write('\u0015')
  expect(await leave(chat)).toBe(0)
  expect(flat(chat)).toContain('Not sent, because the chat ended: queued')
})
