import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { heldClock } from '../../support/host/held-clock.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'
import { value } from '../../support/log/story.ts'
import { BOT_TOKEN } from '../../support/telegram/bot-identity.ts'
import { GatewayPlace, type GatewayPlaceOptions } from '../../support/telegram/gateway-place.ts'

async function startedPlace(...chats: readonly number[]) {
  return startedPlaceWith({}, ...chats)
}

async function startedPlaceWith(options: GatewayPlaceOptions, ...chats: readonly number[]) {
  const place = await GatewayPlace.open(options)
  for (const chat of chats) await place.pair(chat)
  await place.start()
  return place
}

test('an update is acknowledged only after its frame was accepted, and one that is delivered again runs once', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  place.double.fail({ method: 'getUpdates', code: 500, afterEffect: true })
  chat.writes('Hello')
  await place.messages(1)
  await expect.poll(() => place.double.pending).toBe(0)
  await place.stop()
  chat.writes('While away')
  await place.start()
  const messages = await place.messages(2)
  expect(messages.map(({ payload }) => payload.text)).toEqual(['Hello', 'While away'])
  await expect.poll(() => place.double.acknowledged).toEqual([1_000, 1_001])
})

test('after a week Telegram may count from a lower number, and no message is lost', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  chat.writes('Before')
  await place.messages(1)
  await expect.poll(() => place.double.pending).toBe(0)
  await place.stop()
  place.double.countFrom(3)
  chat.writes('After')
  await place.start()
  expect((await place.messages(2)).map(({ payload }) => payload.text)).toEqual(['Before', 'After'])
})

test('an answer that was given while the gateway was away is sent after its start, once', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  chat.writes('Hello')
  const [message] = await place.messages(1)
  await place.stop()
  await place.answers(message!, 'Hi')
  await place.start()
  await chat.until(({ fromBot }) => fromBot.length === 1)
  await place.stop()
  await place.start()
  chat.writes('/help')
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.fromBot.map(({ kind }) => kind)).toEqual(['rich', 'text'])
})

test('an answer of several messages continues after the last one that was recorded', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  chat.writes('Hello')
  const [message] = await place.messages(1)
  const image = value(
    await place.tether.putImage('painter', { media_type: 'image/png', bytes: TINY_IMAGES.png }),
  )
  place.double.fail({ method: 'sendRichMessage', code: 500, times: 1_000 })
  await place.answers(message!, 'x'.repeat(2_000), [image, image])
  await expect.poll(() => place.double.callsOf('sendRichMessage').length).toBeGreaterThan(0)
  await place.stop()
  place.double.hasRich = false
  place.double.heal()
  await place.start()
  await chat.until(({ fromBot }) => fromBot.length === 3)
  expect(chat.fromBot.map(({ kind }) => kind)).toEqual(['photo', 'photo', 'text'])
})

test('a chat that must wait delays no other, and its answers stay in order', async () => {
  const clock = heldClock()
  const place = await startedPlaceWith({ clock }, 1, 2)
  const [slow, fast] = [place.double.chat(1), place.double.chat(2)]
  slow.writes('a')
  slow.writes('c')
  fast.writes('b')
  const messages = await place.messages(3)
  const [a, b, c] = ['a', 'b', 'c'].map((text) =>
    messages.find(({ payload }) => payload.text === text),
  )
  place.double.fail({ method: 'sendRichMessage', chat: 1, code: 429, retryAfter: 3_600 })
  await place.answers(a!, 'First')
  await place.answers(c!, 'Second')
  await place.answers(b!, 'At once')
  await fast.until(({ fromBot }) => fromBot.length === 1)
  await expect.poll(() => clock.held).toBe(1)
  expect(slow.fromBot).toEqual([])
  clock.release()
  await slow.until(({ fromBot }) => fromBot.length === 2)
  expect(slow.fromBot.map(({ text }) => text)).toEqual([
    expect.stringContaining('First'),
    expect.stringContaining('Second'),
  ])
})

test('a chat that blocks the bot is parked, and gets its answers when it writes again', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  chat.writes('Hello')
  const [message] = await place.messages(1)
  chat.isBlocked = true
  await place.answers(message!, 'Hi')
  await expect.poll(() => place.gateway?.state()).toMatchObject({ chats: [{ is_parked: true }] })
  await place.stop()
  await place.start()
  chat.isBlocked = false
  chat.writes('I am back')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toContain('Hi')
})

test('a second program that receives messages stops the gateway, which says so', async () => {
  const place = await startedPlace(42)
  await expect.poll(() => place.double.callsOf('setMyCommands').length).toBe(1)
  place.double.fail({ method: 'getUpdates', code: 409 })
  place.double.chat(42).writes('Hello')
  await expect.poll(() => place.gateway?.state()).toMatchObject({ state: 'conflict', code: 409 })
  expect(place.notes).toContainEqual({ state: 'conflict', method: 'getUpdates', code: 409 })
})

test('a group that gets another number keeps its conversation', async () => {
  const place = await startedPlace(-100)
  const [before, after] = [place.double.chat(-100), place.double.chat(-200)]
  before.writes('@harbour_bot Hello')
  const [message] = await place.messages(1)
  place.double.fail({ method: 'sendRichMessage', chat: -100, code: 400, movedTo: -200 })
  await place.answers(message!, 'Hi')
  await after.until(({ fromBot }) => fromBot.length === 1)
  after.writes('@harbour_bot And now?')
  const [, second] = await place.messages(2)
  expect(second?.session.id).toBe('-100')
})

test('a group that gets another number stays in the conversation that /new began, and can begin others', async () => {
  const place = await startedPlace(-100)
  const [before, after] = [place.double.chat(-100), place.double.chat(-200)]
  for (let at = 0; at < 5; at++) before.writes('Not for you')
  const begun = before.writes('/new@harbour_bot')
  before.sends({ migrate_to_chat_id: -200 }, 'The group moved')
  after.writes('@harbour_bot Where are we?')
  const [first] = await place.messages(1)
  expect(first?.session.id).toBe(`-100#${begun}`)
  const later = after.writes('/new@harbour_bot')
  after.writes('@harbour_bot And now?')
  const [, second] = await place.messages(2)
  expect(second?.session.id).toBe(`-100#${later}`)
  await place.answers(second!, 'Elsewhere')
  await after.until(({ fromBot }) => fromBot.at(-1)?.text.includes('Elsewhere') === true)
})

test('pairings that cannot be read are said, and nothing is received', async () => {
  const place = await startedPlace(42)
  await place.stop()
  await writeFile(join(place.home, 'telegram', 'chats.json'), '{')
  await place.start()
  expect(place.gateway?.state()).toEqual({ state: 'unreadable' })
  expect(place.double.isPolled).toBe(false)
})

test('the commands are registered, also if Telegram could not be reached at first', async () => {
  const place = await GatewayPlace.open()
  place.double.fail({ method: 'setMyCommands', code: 502 })
  await place.start()
  await expect.poll(() => place.double.callsOf('setMyCommands').length).toBe(2)
  const [failed, call] = place.double.callsOf('setMyCommands')
  expect([failed?.code, call?.code]).toEqual([502, 200])
  const commands = call?.args['commands'] as readonly { readonly command: string }[]
  expect(commands.map(({ command }) => command)).toEqual(['new', 'cancel', 'status', 'help'])
})

test('no error of the network contains the token, in any form', async () => {
  const place = await startedPlace(42)
  const chat = place.double.chat(42)
  place.double.fail({ method: 'getUpdates', code: 502, times: 2, afterEffect: true })
  place.double.fail({ method: 'sendRichMessage', code: 500, afterEffect: true })
  chat.writes('Hello')
  const [message] = await place.messages(1)
  await place.answers(message!, 'Hi')
  await chat.until(({ fromBot }) => fromBot.length > 0)
  await place.double.close()
  await expect.poll(() => place.gateway?.state()).toMatchObject({ state: 'unreachable' })
  const said = JSON.stringify([place.notes, place.defects.map(String), place.gateway?.state()])
  expect(said).not.toContain(BOT_TOKEN.slice(10))
})
