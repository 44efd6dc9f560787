import { expect, test } from 'vitest'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { png } from '../../support/resources/drawing.ts'
import { value } from '../../support/log/story.ts'
import { GatewayPlace, type GatewayPlaceOptions } from '../../support/telegram/gateway-place.ts'

async function askedPlace(options: GatewayPlaceOptions = {}) {
  const place = await GatewayPlace.open(options)
  await place.pair(42)
  await place.start()
  const chat = place.double.chat(42)
  chat.writes('Hello')
  const [message] = await place.messages(1)
  if (message === undefined) throw new Error('no message')
  const stored = async (...images: readonly Buffer[]) =>
    Promise.all(
      images.map(async (bytes) =>
        value(await place.tether.putImage('painter', { media_type: 'image/png', bytes })),
      ),
    )
  return { place, chat, message, stored }
}

test('images come first, as photos of the same bytes, and the first has the text as its caption [TI-006] [TI-095] [TI-096] [TI-098] [TI-116]', async () => {
  const { place, chat, message, stored } = await askedPlace()
  const images = [TINY_IMAGES.png, png(4, 4, Buffer.alloc(48))]
  await place.answers(message, 'Two **boats**', await stored(...images))
  await chat.until(({ fromBot }) => fromBot.length === 2)
  const [first, second] = chat.fromBot
  expect(first).toMatchObject({ kind: 'photo', text: 'Two boats' })
  expect(first?.entities).toEqual([{ type: 'bold', offset: 4, length: 5 }])
  expect(
    [first?.bytes, second?.bytes].map((bytes, at) => bytes?.equals(images[at] ?? Buffer.alloc(0))),
  ).toEqual([true, true])
  expect(second).toMatchObject({ kind: 'photo', text: '' })
  expect([chat.violations, chat.refusals]).toEqual([[], []])
})

test.each([
  [1_024, ['photo']],
  [1_025, ['photo', 'rich']],
])('text of %i units beside an image is sent as %j [TI-096] [TI-097]', async (length, kinds) => {
  const { place, chat, message, stored } = await askedPlace()
  await place.answers(message, 'x'.repeat(length), await stored(TINY_IMAGES.png))
  await chat.until(({ fromBot }) => fromBot.length === kinds.length)
  expect(chat.fromBot.map(({ kind }) => kind)).toEqual(kinds)
})

test('an image that cannot be a photo is sent as a document', async () => {
  const { place, chat, message, stored } = await askedPlace()
  const long = png(2_100, 1, Buffer.alloc(6_300))
  await place.answers(message, 'A line', await stored(long))
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]).toMatchObject({ kind: 'document', text: 'A line' })
})

test('a missing image becomes a sentence, and the text stays [TI-018]', async () => {
  const { place, chat, message } = await askedPlace()
  const blob = `${'a'.repeat(64)}.png`
  await place.answers(message, 'Here it is', [{ media_type: 'image/png', blob, size: 5 }])
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toBe('Here it is\n\nAn image of this answer is missing.')
})

test('a rich message has blocks, and a server without them gets text with entities', async () => {
  const { place, chat, message } = await askedPlace()
  const text =
    '# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<b>raw</b> [bank](http://evil.example)'
  await place.answers(message, text)
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.blocks?.map((block) => 'type' in block && block.type)).toEqual([
    'heading',
    'list',
    'table',
    'paragraph',
  ])
  place.double.hasRich = false
  chat.writes('Again')
  const [, second] = await place.messages(2)
  await place.answers(second!, text)
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.fromBot[1]).toMatchObject({ kind: 'text', preview: false })
  expect(chat.fromBot[1]?.text).toContain('<b>raw</b> bank (http://evil.example)')
  expect(chat.violations).toEqual([])
})

test('a long answer is split at paragraphs and lines of code, with every part formatted', async () => {
  const { place, chat, message } = await askedPlace()
  place.double.hasRich = false
  const code = Array.from({ length: 400 }, (_, at) => `const line${at} = "${'x'.repeat(10)}"`).join(
    '\n',
  )
  await place.answers(message, `Intro\n\n\`\`\`ts\n${code}\n\`\`\`\n\n${'word '.repeat(2_000)}`)
  await chat.until(({ fromBot }) => fromBot.length > 5)
  const parts = chat.fromBot
  expect(parts.length).toBeGreaterThan(5)
  expect(chat.refusals).toEqual([])
  const sent = parts.map(({ text }) => text).join('\n')
  for (const line of code.split('\n')) expect(sent).toContain(line)
  expect(
    parts.slice(1, 4).every(({ entities = [] }) => entities.some(({ type }) => type === 'pre')),
  ).toBe(true)
})

test('an error is one plain sentence with the next step, and notices are shown [AR-011]', async () => {
  const { place, chat, message } = await askedPlace()
  const notices = [{ code: 'denied', text: 'A call was denied.' }]
  const payload = {
    kind: 'overloaded',
    message: 'The provider is overloaded.',
    retryable: true,
    notices,
  } as const
  await place.says(message, 'error', payload)
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toBe(
    'The provider is overloaded. Send the message again.\n\nNote: A call was denied.',
  )
})

test.each([
  [true, ['Once upon']],
  [false, []],
])(
  '"typing" is shown while a Turn runs, and with the setting drafts: %s its text is: %j',
  async (drafts, shown) => {
    const { place, chat, message } = await askedPlace({ drafts })
    await place.says(message, 'event.ack', { status: 'started' })
    await place.says(message, 'assistant.delta', { text: 'Once upon' })
    await expect.poll(() => [chat.typing > 0, chat.drafts]).toEqual([true, shown])
    await place.answers(message, 'Once upon a time')
    await chat.until(({ fromBot }) => fromBot.length === 1)
    expect(place.double.callsOf('sendMessageDraft')).toHaveLength(shown.length)
  },
)

test('text that Telegram refuses is replaced by a sentence, and what comes after it is sent', async () => {
  const { place, chat, message } = await askedPlace()
  place.double.fail({ method: 'sendRichMessage', code: 400 })
  place.double.fail({ method: 'sendMessage', code: 400 })
  await place.answers(message, 'An answer')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toBe('Telegram did not accept a part of this answer.')
  chat.writes('Again')
  const [, second] = await place.messages(2)
  await place.answers(second!, 'Another answer')
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.fromBot[1]?.text).toContain('Another answer')
})
