import { expect, test } from 'vitest'
import { GatewayPlace } from '../../support/telegram/gateway-place.ts'
import { TINY_IMAGES } from '../../support/resources/tiny-images.ts'

test('smoke', async () => {
  const place = await GatewayPlace.open()
  const chat = place.double.chat(42)
  await place.pair(42)
  await place.start()
  chat.writes('Hello')
  const [hello] = await place.messages(1)
  expect(hello?.payload).toEqual({ text: 'Hello', user: { id: '42', name: 'Ada' } })
  chat.photographs(Buffer.from(TINY_IMAGES.png), 'What is this?')
  const [, photo] = await place.messages(2)
  expect(photo?.payload).toMatchObject({ text: 'What is this?' })
  await place.answers(hello!, 'Hi **there**, see `x`')
  await place.answers(photo!, 'An image', photo!.payload.images ?? [])
  await chat.until(({ fromBot }) => fromBot.length === 2)
  expect(chat.screen()).toBe('')
})
