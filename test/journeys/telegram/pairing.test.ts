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
