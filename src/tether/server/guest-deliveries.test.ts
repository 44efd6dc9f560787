import { expect, test } from 'vitest'
import { fakeGuest } from '../../../test/support/tether/fake-guest.ts'
import {
  DONE,
  message,
  OTHER_TURN,
  reply,
  running,
  scene,
} from '../../../test/support/tether/guest-host-scene.ts'
import { envelope } from '../../../test/support/tether/host-end.ts'
import { value } from '../../../test/support/log/story.ts'
import { until as happens, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { ok } from '../../model/errors.ts'
import type { FrameToGuest } from '../../model/tether/frame.ts'
import { MessageBook } from './message-book.ts'

function cancel(msg_id: string, in_reply_to?: string): FrameToGuest {
  const named = in_reply_to === undefined ? {} : { in_reply_to }
  return { ...envelope(msg_id, 'default'), ...named, type: 'control.cancel', payload: {} }
}

/** Type, id and what it replies to, of each line after the first. */
function sent(lines: readonly string[]): unknown[] {
  return lines.slice(1).map((line) => {
    const { type, msg_id, in_reply_to } = JSON.parse(line) as Record<string, unknown>
    return [type, msg_id, ...(in_reply_to === undefined ? [] : [in_reply_to])]
  })
}

test('a message that was cancelled is cancelled in the next guest as well, unless it ended', async () => {
  const book = new MessageBook()
  const first = await running({ book })
  for (const id of ['m1', 'm2', 'm3']) value(first.host.send(message(id)))
  value(first.host.send(cancel('c1')))
  value(first.host.send(cancel('c2', 'm3')))
  first.guest.write(DONE)
  await first.until(1)
  first.guest.exit(1)
  await first.host.ended
  const { guest, host } = await running({ book })
  await happens(() => guest.lines().length === 6)
  expect(sent(guest.lines())).toEqual([
    ['guest.resend', 'm2'],
    ['user.message', 'm2'],
    ['guest.resend', 'm3'],
    ['user.message', 'm3'],
    ['control.cancel', 'c2', 'm3'],
  ])
  await host.stop()
  // The server may be another one as well.
  expect(new MessageBook(book.deliveries).deliveries).toEqual(book.deliveries)
})

test('the next guest may continue with a message only if no piece of its answer was passed on', async () => {
  const book = new MessageBook()
  const first = await running({ book })
  for (const id of ['m1', 'm2', 'm3', 'm4']) value(first.host.send(message(id)))
  first.guest.write(reply('assistant.delta', { text: 'x' }))
  const other = { in_reply_to: 'm2', turn_id: OTHER_TURN, msg_id: 'r2' }
  first.guest.write(reply('reasoning.delta', { text: 'x' }, other))
  await first.until(2)
  first.guest.exit(1)
  await first.host.ended
  // Shown by an earlier server.
  book.noteShown(message('m3'))
  const { guest, host } = await running({ book })
  await happens(() => guest.lines().length === 6)
  expect(sent(guest.lines())).toEqual([
    ['user.message', 'm1'],
    ['user.message', 'm2'],
    ['user.message', 'm3'],
    ['guest.resend', 'm4'],
    ['user.message', 'm4'],
  ])
  await host.stop()
})

test('frames pass unchanged between the host and the guest, with images and without [TI-104]', async () => {
  const { guest, host, frames, until } = await running()
  const image = { media_type: 'image/png', blob: `${'a'.repeat(64)}.png`, size: 7 } as const
  const user = { id: '7', name: 'Zoë' }
  const text = 'Tide\u2028\u0000 "quay" \\ 🚢'
  const given: FrameToGuest[] = [
    { ...envelope('m1', 'default'), type: 'user.message', payload: { text, user } },
    {
      ...envelope('m2', 'a b'),
      type: 'user.message',
      payload: { text: '', images: [image], user, when_busy: 'queue' },
    },
    { ...envelope('p1', 'default'), type: 'control.ping', payload: {} },
  ]
  for (const frame of given) value(host.send(frame))
  await happens(() => guest.lines().length === 4)
  expect(
    guest
      .lines()
      .slice(1)
      .map((line): unknown => JSON.parse(line)),
  ).toEqual(given)
  const back = [
    reply('assistant.delta', { text }, { msg_id: 'r1' }),
    reply('assistant.done', { text, status: 'completed' }, { msg_id: 'r2' }),
    {
      ...reply('assistant.done', { text: '', images: [image, image], status: 'completed' }),
      ...envelope('r3', 'a b'),
      in_reply_to: 'm2',
      turn_id: OTHER_TURN,
    },
  ]
  for (const frame of back) guest.write(frame)
  await until(back.length)
  expect(frames).toEqual(back)
  await host.stop()
})

test('what cancels nothing, or the same message again, is not sent', async () => {
  const { guest, host } = await running()
  value(host.send(cancel('c0')))
  value(host.send(message('m1')))
  for (const id of ['c1', 'c2']) value(host.send(cancel(id)))
  value(host.send(cancel('c3', 'm9')))
  value(host.send(message('m2')))
  await happens(() => guest.lines().length === 4)
  expect(sent(guest.lines())).toEqual([
    ['user.message', 'm1'],
    ['control.cancel', 'c1'],
    ['user.message', 'm2'],
  ])
  await host.stop()
})

test('any amount that is sent to a paused guest waits, and arrives in order when it continues', async () => {
  const { guest, host } = await running()
  value(await host.pause())
  guest.socket.pause()
  const text = 'x'.repeat(190 * 1024)
  for (let at = 0; at < 60; at += 1) value(host.send(message(`m${at}`, text)))
  value(await host.resume())
  guest.socket.resume()
  value(host.send(message('last')))
  await happens(() => guest.lines().length === 63)
  expect(sent(guest.lines())).toEqual([
    ['guest.resumed', undefined],
    ...Array.from({ length: 60 }, (_, at) => ['user.message', `m${at}`]),
    ['user.message', 'last'],
  ])
  expect((await host.stop()).reason).toBeUndefined()
})

test('a guest that continues but reads nothing of what waited is stopped', async () => {
  const clock = virtualClock()
  const { guest, host } = await running({ clock })
  guest.socket.pause()
  value(await host.pause())
  for (let at = 0; at < 60; at += 1) value(host.send(message(`m${at}`, 'x'.repeat(190 * 1024))))
  // A pause does not count.
  clock.advance(60_000)
  value(await host.resume())
  clock.advance(30_000)
  expect((await host.ended).reason?.kind).toBe('backpressure')
})

test('a guest that floods the server with valid frames has to wait, and its frames are kept', async () => {
  const clock = virtualClock()
  const { guest, host, frames } = await running({ clock })
  value(host.send(message('m1')))
  const COUNT = 6_000
  for (let at = 0; at < COUNT; at += 1)
    guest.write(reply('assistant.delta', { text: 'x' }, { msg_id: `r${at}` }))
  await happens(() => clock.pending().length === 1)
  const atOnce = frames.length
  expect(atOnce).toBeLessThanOrEqual(5_000)
  // A second allows a thousand more.
  for (let step = 0; step < 10; step += 1) {
    clock.advance(50)
    await happens(() => clock.pending().length === 1)
  }
  expect(frames.length - atOnce).toBeLessThanOrEqual(510)
  await happens(() => {
    clock.advance(50)
    return frames.length === COUNT
  })
  const stopped = host.stop()
  await happens(() => {
    clock.advance(50)
    return guest.steps.length > 0
  })
  expect((await stopped).reason).toBeUndefined()
})

test('a guest whose protected files were replaced outside is stopped for a new one, when no message runs', async () => {
  const guest = await fakeGuest()
  const found = { appearedPaths: [], runsLater: [], unprotectedPaths: ['.git/config'] }
  let looks = 0
  const process = {
    ...guest.process,
    inspect: async () => {
      looks += 1
      return ok(looks === 1 ? found : { ...found, unprotectedPaths: [] })
    },
  }
  const made = await scene({ launch: async () => ok(process) })
  guest.write({ type: 'guest.ready' })
  const host = value(await made.starting)
  for (const id of ['m1', 'm2', 'm3']) value(host.send(message(id)))
  guest.write(reply('event.ack', { status: 'started' }, { in_reply_to: 'm2', turn_id: OTHER_TURN }))
  guest.write({ ...DONE, msg_id: 'r2' })
  await made.until(2)
  await happens(() => looks === 1)
  expect(guest.steps).toEqual([])
  guest.write({ ...DONE, msg_id: 'r3', in_reply_to: 'm2', turn_id: OTHER_TURN })
  const ending = await host.ended
  expect([ending.restart, ending.reason]).toEqual([true, undefined])
  expect(guest.steps).toEqual(['stop 5000'])
})

test('errors of a guest that is not running have a next step', async () => {
  const { guest, host } = await running()
  guest.exit(3)
  const { reason } = await host.ended
  expect(reason).toMatchObject({ kind: 'wake_failed', next_actions: [{}] })
  expect(host.send(message('m1'))).toMatchObject({ ok: false, error: { next_actions: [{}] } })
})
