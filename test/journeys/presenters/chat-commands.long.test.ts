import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  flat,
  IDLE,
  leave,
  logOf,
  messagesIn,
  openChat,
} from '../../support/presenters/open-chat.ts'

test('/clear starts a Session on an empty screen, and keeps what was on it in the scrollback', async () => {
  const chat = await openChat()
  chat.say('What is in this folder?')
  await chat.turns(1)
  chat.say('/clear')
  await chat.until((rows) => !rows.join('\n').includes('What is in this folder?\n'))
  await chat.until('The Session before is kept')
  expect(chat.terminal.screen().join('\n')).not.toContain('tokens in (')
  expect(flat(chat)).toContain('tokens in (')
  expect(await leave(chat)).toBe(0)
})

test('/cost shows each Turn and the total, and /cache says that nothing broke', async () => {
  const chat = await openChat()
  chat.say('/cost')
  await chat.until('nothing was spent')
  chat.say('First question')
  await chat.turns(1)
  chat.say('Second question')
  await chat.turns(2)
  chat.say('/cost')
  await chat.until(/^ +1 .*First question$/m)
  await chat.until(/^ +2 .*Second question$/m)
  await chat.until(/this Session$/m)
  chat.say('/cache')
  await chat.until('nothing broke the prefix')
  chat.say('/cache all')
  await chat.until(/^Request +Bytes/m)
  chat.say('/cache none')
  await chat.until('Expected /cache or /cache all.')
  expect(await leave(chat)).toBe(0)
})

test('/diff shows the changes of the Session and of a Turn, and refuses a Turn that there is not', async () => {
  const chat = await openChat({ permission: 'auto' })
  chat.say('write "rope" to a.txt')
  await chat.turns(1)
  chat.say('/diff')
  await chat.until(/^1 \+ rope$/m)
  chat.say('/diff 1')
  await chat.until((rows) => rows.filter((row) => row === '1 + rope').length === 2)
  chat.say('/diff 7')
  await chat.until('No such Turn in this Session.')
  expect(flat(chat)).not.toContain('hawser log show')
  chat.say('/undo 1')
  await chat.until('a.txt: removed')
  expect(await leave(chat)).toBe(0)
})

test('/init drafts AGENTS.md in an ordinary Turn, improves one that exists, and is refused in plan mode', async () => {
  const chat = await openChat({ mode: 'plan' })
  chat.say('/init')
  await chat.until('Leave plan mode first: /build')
  chat.say('/build')
  await chat.until(IDLE)
  chat.say('/init mention the tides')
  await chat.turns(1)
  await writeFile(join(chat.workspace, 'AGENTS.md'), 'Use tabs.\n')
  chat.say('/init')
  await chat.turns(2)
  const messages = messagesIn(await logOf(chat.root))
  expect(messages.map((text) => text.slice(0, 14))).toEqual(['Write AGENTS.m', 'Improve AGENTS'])
  expect(messages[0]).toContain('Also: mention the tides')
  expect(await leave(chat)).toBe(0)
})

test('/copy takes an earlier answer or a code block, and says what there is not', async () => {
  const chat = await openChat()
  chat.say('/copy')
  await chat.until('There is no answer to copy yet.')
  chat.say('What is in this folder?')
  await chat.turns(1)
  chat.say('/copy code')
  await chat.until('The last answer has no such code block.')
  chat.say('/copy 9')
  await chat.until('This Session has 1 answer to copy.')
  chat.say('/copy all')
  await chat.until('Use /copy, /copy NUMBER')
  expect(await leave(chat)).toBe(0)
})

test('the menu completes the arguments of the new commands', async () => {
  const chat = await openChat()
  chat.say('What is in this folder?')
  await chat.turns(1)
  for (const [typed, shown] of [
    ['/export ', /^› md +Markdown, to read$/m],
    ['/copy ', /^› code +the last code block/m],
    ['/cache ', /^› all +the figures/m],
    ['/diff ', /^› 1 +What is in this folder\?$/m],
    ['/queue ', /^› edit /m],
  ] as const) {
    chat.write(typed)
    await chat.until(shown)
    chat.write('\u0015')
    await chat.until((rows) => !rows.some((row) => row.startsWith('› ')))
  }
  chat.say('/exit')
  expect((await chat.ended).code).toBe(0)
})
