import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { picture } from '../../support/resources/sample-files.ts'
import { flat, IDLE, leave, openChat } from '../../support/presenters/open-chat.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'

const ESCAPE = '\u001b'

test('Esc twice on an empty input goes back before a message: its text and attachments return to the input, and its files are restored', async () => {
  const chat = await openChat({ permission: 'auto' })
  const path = (name: string) => join(chat.workspace, name)
  await writeFile(path('harbour.png'), picture(7))
  chat.say('Write "one" to a.txt')
  await chat.turns(1)
  chat.say('/attach harbour.png')
  await chat.until('Attached to your next message')
  chat.say('Replace "one" with "two" in a.txt')
  await chat.turns(2)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('two')
  chat.write(ESCAPE)
  await chat.until('Press Esc again to go back')
  chat.write(ESCAPE)
  await chat.until('Go back before a message (2)')
  expect(flat(chat)).toContain('Replace "one" with "two" in a.txt')
  chat.write('\r')
  await chat.until('Conversation only')
  chat.write('\r')
  await chat.until('> Replace "one" with "two" in a.txt')
  await chat.until('[1] harbour.png')
  expect(flat(chat)).toContain('a.txt: restored')
  expect(await readFile(path('a.txt'), 'utf8')).toBe('one')
  // Edited and without its attachment, it is another message.
  chat.write('\u001b[H\u007f')
  await chat.until('Not attached any more')
  chat.write('\u0005\u0015Read a.txt\r')
  // The branch shows its first Turn again.
  await chat.turns(4)
  expect(await leave(chat)).toBe(0)
  const { harness } = await harnessPlace({}, chat.root)
  const all = await harness.list()
  expect(all.map(({ state }) => [state.turns, state.parent_session_id === ''])).toEqual([
    [2, false],
    [2, true],
  ])
})

test('a file that a person changed since is asked about, and one Esc leaves everything as it is', async () => {
  const chat = await openChat({ permission: 'auto' })
  const path = (name: string) => join(chat.workspace, name)
  chat.say('Write "one" to a.txt and then write "one" to b.txt')
  await chat.turns(1)
  await writeFile(path('a.txt'), 'mine')
  chat.write(ESCAPE)
  await chat.until('Press Esc again')
  // Any other key in between counts as the first one again.
  chat.write('x\u007f')
  await chat.until((rows) => !rows.join('\n').includes('Press Esc again'))
  chat.write(ESCAPE)
  await chat.until('Press Esc again')
  chat.write(ESCAPE)
  await chat.until('Go back before a message (1)')
  chat.write('\r')
  await chat.until('Conversation and files')
  chat.write('\r')
  await chat.until('Changed by something else since: a.txt')
  chat.write(ESCAPE)
  await chat.until(IDLE)
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine')
  chat.write(ESCAPE)
  await chat.until('Press Esc again')
  chat.write(ESCAPE)
  await chat.until('Go back before a message (1)')
  chat.write('\r')
  await chat.until('Conversation and files')
  chat.write('\r')
  await chat.until('Changed by something else since: a.txt')
  chat.write('\r')
  await chat.until('You are before Turn 1')
  expect(await readFile(path('a.txt'), 'utf8')).toBe('mine')
  await expect(readFile(path('b.txt'), 'utf8')).rejects.toThrow('ENOENT')
  chat.write('\u0015')
  expect(await leave(chat)).toBe(0)
})

test('while a Turn runs, Esc interrupts it as before', async () => {
  const chat = await openChat({ gated: true })
  chat.say('What happened?')
  await chat.until('Enter steers')
  chat.write(ESCAPE)
  await chat.until(/^Interrupted\.$/m)
  expect(flat(chat)).not.toContain('Press Esc again')
  expect(await leave(chat)).toBe(0)
})
