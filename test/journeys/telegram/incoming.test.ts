import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { GatewayPlace, type GatewayPlaceOptions } from '../../support/telegram/gateway-place.ts'

async function pairedPlace(options: GatewayPlaceOptions = {}) {
  const place = await GatewayPlace.open(options)
  await place.pair(42)
  await place.start()
  return { place, chat: place.double.chat(42) }
}

test('text becomes a message with its sender, named by bot, chat and message', async () => {
  const { place, chat } = await pairedPlace()
  const id = chat.writes('Hello')
  const [message] = await place.messages(1)
  expect(message).toMatchObject({
    session: { channel: 'telegram', id: '42' },
    msg_id: `123456789/42/${id}`,
    payload: { text: 'Hello', user: { id: '42', name: 'Ada' } },
  })
})

test('the largest size of a photo is downloaded and stored, and its caption is the text [TI-004] [TI-088] [TI-091] [TI-099]', async () => {
  const { place, chat } = await pairedPlace()
  chat.photographs(TINY_IMAGES.png, 'What is this?')
  const [message] = await place.messages(1)
  const { size } = { size: TINY_IMAGES.png.length }
  expect(message?.payload).toMatchObject({ text: 'What is this?', images: [{ size }] })
  expect(place.double.files.asked).toHaveLength(1)
})

test('a photo alone is enough, and so is a document of an image [TI-089] [TI-092] [TI-115]', async () => {
  const { place, chat } = await pairedPlace()
  chat.photographs(TINY_IMAGES.png)
  chat.documents(TINY_IMAGES.jpeg, {
    mime_type: 'image/jpeg',
    file_name: 'a.jpg',
    caption: 'As a file',
  })
  const [photo, file] = await place.messages(2)
  expect(photo?.payload).toMatchObject({ text: '', images: [{ media_type: 'image/png' }] })
  expect(file?.payload).toMatchObject({ text: 'As a file', images: [{ media_type: 'image/jpeg' }] })
})

test('an album is one message with its images in order, also in several updates [TI-093] [TI-094]', async () => {
  const { place, chat } = await pairedPlace()
  chat.album([TINY_IMAGES.png, TINY_IMAGES.jpeg, TINY_IMAGES.gif], 'Compare these')
  chat.writes('And this?')
  const [album, text] = await place.messages(2)
  expect(album?.payload.text).toBe('Compare these')
  expect(album?.payload.images?.map(({ media_type }) => media_type)).toEqual([
    'image/png',
    'image/jpeg',
    'image/gif',
  ])
  expect(text?.payload.text).toBe('And this?')
})

test('an album of five images is refused whole, in one sentence [TI-038]', async () => {
  const { place, chat } = await pairedPlace()
  chat.album(Array.from({ length: 5 }, () => TINY_IMAGES.png))
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toMatch(/at most four images/)
  expect(place.double.files.asked).toEqual([])
})

test('without a workspace, an image is refused before it is downloaded, and text is not [TI-123] [TI-124]', async () => {
  const { place, chat } = await pairedPlace({ workspace: undefined })
  chat.photographs(TINY_IMAGES.png)
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toContain('images require workspace mapping')
  expect(place.double.files.asked).toEqual([])
  chat.writes('Hello')
  expect(await place.messages(1)).toHaveLength(1)
})

test('a reply quotes what it replies to, bounded', async () => {
  const { place, chat } = await pairedPlace()
  const from = { id: 7, is_bot: false, first_name: 'Bob' }
  const reply_to_message = {
    message_id: 1,
    date: 1,
    chat: { id: 42, type: 'private' },
    from,
    text: 'x'.repeat(4_000),
  }
  chat.writes('Why?', { more: { reply_to_message } })
  const [message] = await place.messages(1)
  expect(message?.payload.text).toMatch(/^> Bob: x+…\n\nWhy\?$/)
  expect(message?.payload.text.length).toBeLessThan(1_100)
})

test('a reply to an answer quotes its text, also if that was a rich message', async () => {
  const { place, chat } = await pairedPlace()
  const reply_to_message = {
    message_id: 1,
    date: 1,
    chat: { id: 42, type: 'private' },
    from: { id: 123_456_789, is_bot: true, first_name: 'Harbour' },
    rich_message: {
      blocks: [
        { type: 'heading', size: 1, text: 'Boats' },
        { type: 'paragraph', text: ['Two ', { type: 'bold', text: 'red' }, ' ones'] },
        {
          type: 'list',
          items: [{ label: '•', blocks: [{ type: 'paragraph', text: 'a dinghy' }] }],
        },
        { type: 'table', cells: [[{ text: 'a' }, { text: 'b' }], [{ text: '1' }]] },
        { type: 'divider' },
      ],
    },
  }
  chat.writes('Why?', { more: { reply_to_message } })
  const [message] = await place.messages(1)
  expect(message?.payload.text).toBe(
    '> Harbour: Boats\n> Two red ones\n> a dinghy\n> a | b\n> 1\n\nWhy?',
  )
})

test.each([
  ['voice', { voice: {} }],
  ['video', { video: {} }],
  ['sticker', { sticker: {} }],
  ['location', { location: {} }],
  ['document', { document: { file_id: 'x', mime_type: 'application/zip' } }],
])('a %s gets one sentence that says what is supported', async (_, content) => {
  const { chat } = await pairedPlace()
  chat.sends(content, 'something')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toMatch(/not supported\. Send text, or up to four/)
})

test('an edited message is answered, and not run again', async () => {
  const { place, chat } = await pairedPlace()
  const id = chat.writes('Hello')
  chat.edits(id, 'Hello again')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toContain('Edits are not read')
  expect(await place.messages(1)).toHaveLength(1)
})

test('a live location that moves is not answered each time', async () => {
  const { place, chat } = await pairedPlace()
  const id = chat.sends({ location: { latitude: 1, longitude: 1 } }, 'my location')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  for (let at = 0; at < 3; at++) chat.edits(id, '', { location: { latitude: at, longitude: 1 } })
  chat.writes('Hello')
  await place.messages(1)
  expect(chat.fromBot).toHaveLength(1)
})

test('/new begins a conversation, and a message delivered again stays in its own and runs once', async () => {
  const { place, chat } = await pairedPlace()
  const hello = chat.writes('Hello')
  await place.messages(1)
  const begun = chat.writes('/new')
  chat.writes('Hello again')
  await place.messages(2)
  chat.again(hello)
  chat.writes('And again')
  const messages = await place.messages(3)
  expect(messages.map(({ payload, session }) => [payload.text, session.id])).toEqual([
    ['Hello', '42'],
    ['Hello again', `42#${begun}`],
    ['And again', `42#${begun}`],
  ])
})

test('/new with text begins a conversation with it', async () => {
  const { place, chat } = await pairedPlace()
  const begun = chat.writes('/new Draw a boat')
  const [message] = await place.messages(1)
  expect([message?.payload.text, message?.session.id]).toEqual(['Draw a boat', `42#${begun}`])
})

test('/cancel cancels, and /status and /help answer', async () => {
  const { place, chat } = await pairedPlace()
  chat.writes('/cancel')
  chat.writes('/status')
  chat.writes('/help')
  await chat.until(({ fromBot }) => fromBot.length === 3)
  expect(chat.fromBot.map(({ text }) => text)).toEqual([
    expect.stringContaining('being cancelled'),
    expect.stringContaining('Instance painter: stopped.'),
    expect.stringContaining('/new - begin a new conversation'),
  ])
  const { frames } = await place.polled(['control.cancel'])
  expect(frames).toHaveLength(1)
  expect(place.double.callsOf('setMyCommands')).toHaveLength(1)
})

test('in a paired group only what mentions or replies to the bot counts, and each topic is a conversation', async () => {
  const place = await GatewayPlace.open()
  await place.pair(-100)
  await place.start()
  const group = place.double.chat(-100, { topics: [7] })
  group.writes('Nothing for you')
  group.writes('/new@other_bot')
  group.writes('@harbour_bot Hello', { topic: 7 })
  const from = { id: 123_456_789, is_bot: true, first_name: 'Harbour' }
  const reply_to_message = {
    message_id: 1,
    date: 1,
    chat: { id: -100, type: 'supergroup' },
    from,
    text: 'Hi',
  }
  group.writes('And you?', { more: { reply_to_message } })
  const [mention, reply] = await place.messages(2)
  expect(mention).toMatchObject({ session: { id: '-100:7' }, payload: { text: 'Hello' } })
  expect(reply?.session.id).toBe('-100')
  await place.answers(mention!, 'Hi')
  await group.until(({ fromBot }) => fromBot.length === 1)
  expect(group.fromBot[0]).toMatchObject({ topic: 7, replyTo: 3 })
})
