import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import { SessionId } from '../../../src/model/ids.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { harnessPlace } from '../../support/session/harness-place.ts'
import { value } from '../../support/log/story.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import {
  flat,
  IDLE,
  leave,
  logOf,
  openChat,
  times,
  type OpenChat,
} from '../../support/presenters/open-chat.ts'

async function withFiles(chat: OpenChat): Promise<void> {
  await writeFile(join(chat.workspace, 'tiny.png'), TINY_IMAGES.png)
  await writeFile(join(chat.workspace, 'a b.txt'), 'rope\nsail\n')
  await writeFile(join(chat.workspace, 'bad.zip'), 'PK\u0003\u0004')
}

/** The handles and names of the attachments of each message. */
function enclosed(events: readonly WholeEvent[]): string[][] {
  return events.flatMap((event) =>
    event.type === 'user_message'
      ? [(event.data.resources ?? []).map(({ handle, name }) => `${handle} ${name}`)]
      : [],
  )
}

test('/attach checks at once, waits for the next message, and shows what was sent below it', async () => {
  const chat = await openChat({ clipboard: 'copied words' })
  await withFiles(chat)
  chat.say('/attach bad.zip')
  await chat.until('✗ bad.zip: ')
  chat.say('/attach tiny.png')
  await chat.until('[1] tiny.png · 3×2 · 99 bytes')
  chat.say('/attach "a b.txt"')
  await chat.until('[2] a b.txt · 10 bytes')
  chat.say('/attach clipboard')
  await chat.until('[3] clipboard.txt · 12 bytes')
  chat.say('/attach https://example.invalid/a')
  await chat.until('[4] https://example.invalid/a')
  chat.say('/detach 2')
  await chat.until('[3] https://example.invalid/a')
  chat.say('Thank you')
  await chat.turns(1)
  const rows = chat.terminal.all()
  const at = rows.indexOf('> Thank you')
  expect(rows.slice(at, at + 4)).toEqual([
    '> Thank you',
    '  @img1 tiny.png · 99 bytes · 3×2',
    '  @txt2 clipboard.txt · 12 bytes · 1 line',
    '  @link3 https://example.invalid/a · a link, not fetched',
  ])
  expect(chat.terminal.screen().some((row) => row.startsWith('[1]'))).toBe(false)
  chat.say('/resources')
  await chat.until('@link3')
  expect(await leave(chat)).toBe(0)
  expect(enclosed(await logOf(chat.root))).toEqual([
    ['@img1 tiny.png', '@txt2 clipboard.txt', expect.stringMatching(/^@link3 /)],
  ])
})

test('a message may consist of attachments only, and @ words attach files and show Resources again', async () => {
  const chat = await openChat()
  await withFiles(chat)
  chat.say('/attach tiny.png')
  await chat.until('[1] tiny.png')
  chat.write('\r')
  await chat.turns(1)
  chat.say('Thank you for @"a b.txt" and @img1')
  await chat.turns(2)
  expect(flat(chat)).toContain('@img1 is sent to the model for this Turn.')
  chat.say('There was no @img9')
  await chat.until('No Resource @img9 in this Session; sent as text.')
  // The note stays until a key is pressed.
  chat.write('x\u007f')
  await chat.turns(3)
  await leave(chat)
  const events = await logOf(chat.root)
  expect(enclosed(events)).toEqual([['@img1 tiny.png'], ['@txt2 a b.txt'], []])
  const views = events.flatMap((event) =>
    event.type === 'resource_view' ? [`${event.data.handle} by ${event.data.by}`] : [],
  )
  expect(views).toEqual(['@img1 by person'])
})

test('a message that could not be sent is returned with its attachments', async () => {
  const root = await freshFolder()
  const { harness } = await harnessPlace({}, root)
  const session = value(await harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  const chat = await openChat({ root, session: SessionId.parse(session.id) })
  await withFiles(chat)
  chat.say('/attach tiny.png')
  await chat.until('[1] tiny.png')
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let holding: () => void = () => {}
  const isHeld = new Promise<void>((resolve) => {
    holding = resolve
  })
  const between = session.between(async () => {
    holding()
    await held
    return { ok: true, value: undefined }
  })
  await isHeld
  chat.say('Thank you')
  await chat.until(
    (rows) => rows.some((row) => row.startsWith('[1] tiny.png')) && rows.includes('> Thank you'),
  )
  expect(flat(chat)).toContain('✗')
  release()
  await between
  chat.write('\r')
  await chat.turns(1)
  await leave(chat)
  expect(enclosed(await logOf(root))).toEqual([['@img1 tiny.png']])
})

test('a file deleted after it was attached is refused by name, and the message is returned', async () => {
  const chat = await openChat()
  await withFiles(chat)
  chat.say('/attach tiny.png')
  await chat.until('[1] tiny.png')
  await rm(join(chat.workspace, 'tiny.png'))
  chat.write('\r')
  await chat.until('✗ tiny.png: Attachment file not found: tiny.png')
  await chat.until(
    (rows) => rows.some((row) => row.startsWith('[1] tiny.png')) && IDLE.test(rows.join('\n')),
  )
  expect(times(flat(chat), 'and there is no text')).toBe(1)
  await leave(chat)
  expect((await logOf(chat.root)).at(-1)).toMatchObject({ data: { status: 'refused' } })
})

test('a terminal that can show images gets them in separate rows, and nothing else moves', async () => {
  const chat = await openChat({ pictures: true })
  await withFiles(chat)
  chat.say('Thank you for @tiny.png')
  await chat.turns(1)
  const rows = chat.terminal.all()
  const at = rows.indexOf('> Thank you for @tiny.png')
  expect(rows.slice(at, at + 4)).toEqual([
    '> Thank you for @tiny.png',
    '  @img1 tiny.png · 99 bytes · 3×2',
    '',
    '',
  ])
  expect(rows[at + 4]).toContain('I cannot look into @img1.')
  expect(chat.terminal.screen().filter((row) => /^ask · .*\/help$/.test(row)).length).toBe(1)
  chat.say('Attach tiny.png to your answer.')
  await chat.turns(2)
  expect(flat(chat)).toContain('Attached by the model: @img2 tiny.png · 99 bytes · 3×2')
  await leave(chat)
})
