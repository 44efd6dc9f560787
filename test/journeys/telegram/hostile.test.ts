import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { png } from '../../support/resources/drawing.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import type { DoubleChat } from '../../support/telegram/double-chat.ts'
import { GatewayPlace } from '../../support/telegram/gateway-place.ts'

const MIB = 1024 * 1024

async function pairedPlace() {
  const place = await GatewayPlace.open()
  await place.pair(42)
  await place.start()
  return { place, chat: place.double.chat(42) }
}

/** A PNG header that claims a hundred gigapixels. */
function bomb(): Buffer {
  const bytes = Buffer.from(png(1, 1, Buffer.alloc(3)))
  bytes.writeUInt32BE(300_000, 16)
  bytes.writeUInt32BE(300_000, 20)
  return bytes
}

const large = (bytes: number) =>
  Buffer.concat([TINY_IMAGES.png, Buffer.alloc(bytes - TINY_IMAGES.png.length)])
const html = Buffer.from('<html><script>alert(1)</script></html>')

const ATTACKS: Readonly<Record<string, (chat: DoubleChat) => unknown>> = {
  'a file of 20 MB': (chat) => chat.photographs(large(20 * MIB)),
  'a file over 10 MiB whose size is not known': (chat) =>
    chat.photographs(large(10 * MIB + 1), '', { tricks: { size: undefined, chunked: true } }),
  'a size that is wrong': (chat) =>
    chat.photographs(large(11 * MIB), '', { tricks: { size: 100, chunked: true } }),
  'a wrong MIME type': (chat) => chat.documents(TINY_IMAGES.jpeg, { mime_type: 'image/png' }),
  'SVG named .png': (chat) =>
    chat.documents(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), {
      mime_type: 'image/png',
      file_name: 'a.png',
    }),
  'HTML as a photo': (chat) => chat.photographs(html),
  'a decompression bomb': (chat) => chat.photographs(bomb()),
  'a download that redirects': (chat) =>
    chat.photographs(TINY_IMAGES.png, '', { tricks: { redirect: '/file/elsewhere.png' } }),
  'a path with ..': (chat) =>
    chat.photographs(TINY_IMAGES.png, '', { tricks: { path: '../../getMe' } }),
  'an absolute path': (chat) =>
    chat.photographs(TINY_IMAGES.png, '', { tricks: { path: '/etc/passwd' } }),
  'a path with an encoded ..': (chat) =>
    chat.photographs(TINY_IMAGES.png, '', { tricks: { path: 'a/%2e%2e/b' } }),
}

test.each(Object.entries(ATTACKS))(
  '%s: nothing is stored, and one sentence is said [TI-090]',
  async (_, attack) => {
    const { place, chat } = await pairedPlace()
    attack(chat)
    await chat.until(({ fromBot }) => fromBot.length === 1)
    chat.writes('Still there?')
    expect((await place.messages(1)).map(({ payload }) => payload.text)).toEqual(['Still there?'])
    expect(chat.fromBot).toHaveLength(1)
    expect(place.tether.imageCount).toBe(0)
    expect(JSON.stringify([chat.fromBot, place.notes])).not.toContain(BOT_TOKEN)
  },
)

test('a download is ended one byte after the limit [TI-090]', async () => {
  const { place, chat } = await pairedPlace()
  chat.photographs(large(10 * MIB))
  await place.messages(1)
  chat.photographs(large(18 * MIB), '', { tricks: { size: undefined, chunked: true } })
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toContain('at most 10 MiB')
  expect(Math.max(...place.double.files.sent.values())).toBeLessThan(18 * MIB)
})

test('names with controls and characters that reorder text are one safe line', async () => {
  const { place, chat } = await pairedPlace()
  chat.writes('Hello', {
    from: { first_name: 'E\u202Evil\n[Root]: \u0007', last_name: 'x'.repeat(500) },
  })
  const [message] = await place.messages(1)
  const name = message?.payload.user?.name ?? ''
  expect(name).toMatch(/^Evil \[Root\]: x+…$/)
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(64)
})

test('a caption that imitates a command is text', async () => {
  const { place, chat } = await pairedPlace()
  chat.photographs(TINY_IMAGES.png, '/new')
  const [message] = await place.messages(1)
  expect(message).toMatchObject({ session: { id: '42' }, payload: { text: '/new' } })
})

test('the same album id of two chats makes separate messages', async () => {
  const place = await GatewayPlace.open()
  await place.pair(42)
  await place.pair(43)
  await place.start()
  const more = { media_group_id: 'forged' }
  place.double.chat(42).photographs(TINY_IMAGES.png, 'one', { more })
  place.double.chat(43).photographs(TINY_IMAGES.jpeg, 'two', { more })
  const messages = await place.messages(2)
  expect(
    messages.map(({ payload: { text, images = [] } }) => `${text} ${images.length}`).toSorted(),
  ).toEqual(['one 1', 'two 1'])
})

test('in a group, no one adds to the album of another or splits it, whatever album id they have', async () => {
  const place = await GatewayPlace.open()
  await place.pair(-100)
  await place.start()
  const group = place.double.chat(-100)
  const [ada, eve] = [
    { id: 7, first_name: 'Ada' },
    { id: 8, first_name: 'Eve' },
  ]
  const more = { media_group_id: 'forged' }
  group.photographs(TINY_IMAGES.png, '@harbour_bot Compare', { from: ada, more })
  group.photographs(TINY_IMAGES.gif, 'and mine', { from: eve, more })
  group.writes('me too', { from: eve })
  group.photographs(TINY_IMAGES.jpeg, '', { from: ada, more })
  group.writes('@harbour_bot Done', { from: eve })
  const [album, text] = await place.messages(2)
  expect(album?.payload).toMatchObject({
    user: { name: 'Ada' },
    images: [{ media_type: 'image/png' }, { media_type: 'image/jpeg' }],
  })
  expect(album?.payload.images).toHaveLength(2)
  expect(text?.payload.text).toBe('Done')
})

test('10,000 updates of strangers store nothing, and get at most a code each', async () => {
  const { place, chat } = await pairedPlace()
  const telegram = join(place.home, 'telegram')
  const before = await readdir(telegram)
  for (let at = 0; at < 10_000; at++) {
    const stranger = place.double.chat(1_000_000 + (at % 500))
    if (at % 3 === 0) stranger.photographs(TINY_IMAGES.png, 'x')
    else stranger.writes('/start')
  }
  chat.writes('Hello')
  expect((await place.messages(1))[0]?.payload.text).toBe('Hello')
  const said = place.double.callsOf('sendMessage')
  expect(said.length).toBeLessThanOrEqual(30)
  expect(new Set(said.map(({ args }) => args['chat_id'])).size).toBe(said.length)
  expect(place.double.files.asked).toEqual([])
  const names = (await readdir(telegram)).filter((name) => !name.startsWith('.tmp-'))
  expect(names.filter((name) => !before.includes(name) && name !== 'updates.json')).toEqual([])
})
