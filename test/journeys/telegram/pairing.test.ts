import { expect, test } from 'vitest'
import { GatewayPlace } from '../../support/telegram/gateway-place.ts'

test('an unknown chat gets one code and nothing else, however often it writes', async () => {
  const place = await GatewayPlace.open()
  await place.start()
  const chat = place.double.chat(42)
  chat.writes('Hello')
  chat.writes('Hello?')
  await chat.until(({ fromBot }) => fromBot.length === 1)
  const [, code = ''] = /telegram pair ([A-Z2-9-]{9})$/.exec(chat.fromBot[0]?.text ?? '') ?? []
  expect(place.gateway?.find(code.toLowerCase())).toEqual({
    chat: 42,
    kind: 'private',
    name: 'Ada',
  })
  expect(place.gateway?.find('AAAA-AAAA')).toBeUndefined()
  await place.pair(42)
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.fromBot[1]?.text).toContain('connected to the Instance painter')
  expect(place.gateway?.find(code)).toBeUndefined()
  chat.writes('Now?')
  expect((await place.messages(1)).map(({ payload }) => payload.text)).toEqual(['Now?'])
})

test('a group shows a code only to someone who is paired, and only by a mention', async () => {
  const place = await GatewayPlace.open()
  await place.pair(42)
  await place.start()
  const group = place.double.chat(-100)
  const stranger = { id: 7, first_name: 'Eve' }
  group.writes('@harbour_bot hello', { from: stranger })
  group.writes('hello', { from: { id: 42 } })
  group.writes('@harbour_bot hello', { from: { id: 42 } })
  await group.until(({ fromBot }) => fromBot.length === 1)
  expect(group.fromBot[0]?.text).toContain('hawser telegram pair')
  expect(group.fromBot).toHaveLength(1)
})

test('a chat that is unpaired learns it, and then is a stranger', async () => {
  const place = await GatewayPlace.open()
  await place.pair(42)
  await place.start()
  const chat = place.double.chat(42)
  await place.unpair(42)
  await chat.until(({ fromBot }) => fromBot.length === 1)
  expect(chat.fromBot[0]?.text).toContain('no longer connected')
  chat.writes('Hello')
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.fromBot[1]?.text).toContain('hawser telegram pair')
})

test('a chat whose code was not delivered gets another one', async () => {
  const place = await GatewayPlace.open()
  place.double.fail({ method: 'sendMessage', code: 502 })
  await place.start()
  const chat = place.double.chat(42)
  chat.writes('Hello')
  await expect.poll(() => place.double.callsOf('sendMessage').length).toBe(1)
  expect(chat.fromBot).toEqual([])
  await expect
    .poll(() => {
      chat.writes('Hello?')
      return chat.fromBot.length
    })
    .toBe(1)
})

test('a chat that refuses its code does not use up those of others', async () => {
  const place = await GatewayPlace.open()
  await place.start()
  const [blocking, other] = [place.double.chat(42), place.double.chat(43)]
  blocking.isBlocked = true
  for (let at = 0; at < 50; at++) blocking.writes('Hello')
  other.writes('Hello')
  await other.until(({ fromBot }) => fromBot.length === 1)
  await expect.poll(() => place.double.callsOf('sendMessage').length).toBe(2)
})

test('the code of a group is shown in the topic in which it was asked for, and to no bot', async () => {
  const place = await GatewayPlace.open()
  await place.pair(42)
  await place.pair(-200)
  await place.start()
  const group = place.double.chat(-100, { topics: [7] })
  group.writes('@harbour_bot hello', { from: { id: 42, is_bot: true } })
  group.writes('@harbour_bot hello', { from: { id: 42 }, topic: 7 })
  await group.until(({ fromBot }) => fromBot.length === 1)
  expect(group.fromBot[0]).toMatchObject({ topic: 7 })
})

test('in a paired group, another bot is not answered, and a person who writes as the group is', async () => {
  const place = await GatewayPlace.open()
  await place.pair(-100)
  await place.start()
  const group = place.double.chat(-100)
  group.writes('@harbour_bot Hello from a bot', { from: { id: 8, is_bot: true } })
  const more = { sender_chat: { id: -100, type: 'supergroup', title: 'A group' } }
  group.writes('@harbour_bot Hello', { from: { id: 9, is_bot: true }, more })
  const messages = await place.messages(1)
  expect(messages.map(({ payload }) => [payload.text, payload.user?.name])).toEqual([
    ['Hello', 'A group'],
  ])
})
