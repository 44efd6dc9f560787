import { expect, test } from 'vitest'
import { GatewayPlace } from '../../support/telegram/gateway-place.ts'

const CHATS = 50
const EACH = 20

test('1,000 messages of 50 chats are answered in the order of their chat, while one chat must wait', async () => {
  const place = await GatewayPlace.open()
  const chats = Array.from({ length: CHATS }, (_, at) => place.double.chat(at + 1))
  for (const { id } of chats) await place.pair(id)
  await place.start()
  const [slow, ...others] = chats
  place.double.fail({ method: 'sendRichMessage', chat: 1, code: 429, retryAfter: 3_600 })
  for (let at = 0; at < EACH; at++) for (const chat of chats) chat.writes(`message ${at}`)
  const answered = new Set<string>()
  while (answered.size < CHATS * EACH)
    for (const message of await place.everyMessage()) {
      if (answered.has(message.msg_id)) continue
      answered.add(message.msg_id)
      await place.answers(message, `answer to ${message.payload.text}`)
    }
  await Promise.all(others.map((chat) => chat.until(({ fromBot }) => fromBot.length === EACH)))
  const order = Array.from({ length: EACH }, (_, at) => `answer to message ${at}`)
  for (const { fromBot } of others)
    expect(fromBot.map(({ text }) => /answer to message \d+/.exec(text)?.[0])).toEqual(order)
  // It waits for an hour, and all others are done.
  expect(slow?.fromBot).toEqual([])
  await expect.poll(() => waitingOf(place, 1)).toBe(EACH)
})

function waitingOf({ gateway }: GatewayPlace, id: number): number | undefined {
  const state = gateway?.state()
  const chats = state !== undefined && 'chats' in state ? state.chats : []
  return chats.find(({ chat }) => chat === id)?.waiting
}
