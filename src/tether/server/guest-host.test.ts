import { expect, test } from 'vitest'
import { fakeGuest } from '../../../test/support/tether/fake-guest.ts'
import {
  DONE,
  message,
  OTHER_TURN,
  reply,
  running,
  scene,
  START,
} from '../../../test/support/tether/guest-host-scene.ts'
import { envelope } from '../../../test/support/tether/host-end.ts'
import { until as happens, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { value } from '../../../test/support/log/story.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { LIMITS } from '../../model/limits.ts'
import type { FrameToGuest } from '../../model/tether/frame.ts'
import { MessageBook } from './message-book.ts'

test('a guest gets its start, is ready, and its frames arrive without fields that are not theirs', async () => {
  const { guest, host, frames, until } = await running()
  value(host.send(message('m1')))
  guest.write({ ...DONE, seq: 99, data: 'AAAA' })
  await until(1)
  expect(frames).toEqual([DONE])
  expect((await host.stop()).reason).toBeUndefined()
  expect(guest.lines().map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
    'guest.start',
    'user.message',
  ])
})

test('messages without an end are delivered to the next guest, and end once', async () => {
  const book = new MessageBook()
  const first = await running({ book })
  value(first.host.send(message('m1')))
  value(first.host.send(message('m2')))
  first.guest.write(DONE)
  await first.until(1)
  first.guest.exit(1)
  expect((await first.host.ended).reason?.kind).toBe('wake_failed')
  const { guest, host, frames, notes, until } = await running({ book })
  await host.resume()
  await happens(() => guest.lines().some((line) => line.includes('guest.resumed')))
  expect(guest.lines().filter((line) => line.includes('user.message'))).toHaveLength(1)
  guest.write({ ...DONE, msg_id: 'r2' })
  guest.write({ ...DONE, msg_id: 'r3', in_reply_to: 'm2', turn_id: OTHER_TURN })
  await until(1)
  expect(frames.map(({ in_reply_to }) => in_reply_to)).toEqual(['m2'])
  expect(notes).toContainEqual({
    event: 'frame_dropped',
    type: 'assistant.done',
    why: 'a second end',
  })
  expect(book.unendedMessages).toEqual([])
  await host.stop()
})

test.each<[string, object | string]>([
  ['a reply to no message', reply('event.ack', { status: 'x' }, { in_reply_to: 'm9' })],
  ['a reply in another conversation', { ...DONE, session: { channel: 'host', id: 'other' } }],
  ['a frame without in_reply_to', reply('event.ack', { status: 'x' }, { in_reply_to: undefined })],
  ['the id of a message', { ...DONE, msg_id: 'm1' }],
  ['the Turn of another message', { ...DONE, in_reply_to: 'm2' }],
  ['another Turn of its message', { ...DONE, turn_id: OTHER_TURN }],
  ['an answer without a Turn', { ...DONE, turn_id: undefined }],
  ['a pong without a ping', reply('status.pong', {}, { turn_id: undefined })],
  ['a message of a person', message('m3')],
  ['a second guest.ready', { type: 'guest.ready' }],
  ['a line of the server', { type: 'guest.resumed', paused_ms: 1 }],
  [
    'bytes in a reference',
    reply('assistant.done', { text: '', status: 'completed', images: [{ data: 'AA' }] }),
  ],
  [
    'five images',
    reply('assistant.done', {
      text: '',
      status: 'completed',
      images: Array.from({ length: 5 }, () => ({})),
    }),
  ],
  ['text over the limit', reply('assistant.delta', { text: 'x'.repeat(210 * 1024) })],
  ['a long state', reply('status.presence', { state: 'x'.repeat(201) })],
  ['a long acknowledgement', reply('event.ack', { status: 'x'.repeat(200_000) })],
  [
    'a long error',
    reply('error', { kind: 'network', message: 'x'.repeat(4 * 1024 + 1), retryable: true }),
  ],
  [
    'a path as blob key',
    reply('assistant.done', {
      text: '',
      status: 'completed',
      images: [{ media_type: 'image/png', blob: '../../etc/passwd', size: 1 }],
    }),
  ],
  ['a line that is not JSON', 'hello\n'],
  ['a line over 256 KiB', 'x'.repeat(300 * 1024)],
])('a guest that sends %s is stopped, and nothing of it is used', async (_, line) => {
  const { guest, host, frames, until } = await running()
  value(host.send(message('m1')))
  value(host.send(message('m2')))
  guest.write(reply('event.ack', { status: 'started' }))
  await until(1)
  if (typeof line === 'string') guest.socket.write(line)
  else guest.socket.write(`${JSON.stringify(line)}\n`)
  guest.socket.write(`${JSON.stringify({ ...DONE, msg_id: 'r7' })}\n`)
  expect((await host.ended).reason?.kind).toBe('invalid_response')
  expect(guest.steps).toEqual(['stop 0'])
  expect(frames).toHaveLength(1)
})

test('of the frames about the state of one message, a limited number is stored', async () => {
  const { guest, host, frames, until } = await running()
  value(host.send(message('m1')))
  value(host.send(message('m2')))
  const most = LIMITS.message_status_frames
  for (let i = 0; i < most * 3; i++)
    guest.write(reply(i % 2 === 0 ? 'event.ack' : 'status.presence', STATES[i % 2] ?? {}))
  guest.write(reply('status.presence', { state: 'x' }, { in_reply_to: 'm2', turn_id: OTHER_TURN }))
  guest.write(DONE)
  await until(most + 2)
  expect(frames.map(({ in_reply_to }) => in_reply_to)).toEqual([
    ...Array.from({ length: most }, () => 'm1'),
    'm2',
    'm1',
  ])
  await host.stop()
  expect((await host.ended).reason).toBeUndefined()
})

const STATES = [{ status: 'x' }, { state: 'x' }]

test('a frame before guest.ready stops the guest', async () => {
  const { guest, starting } = await scene()
  guest.write(DONE)
  expect(await starting).toMatchObject({ ok: false, error: { kind: 'invalid_response' } })
})

test('a guest that is not ready in time, or ends before, is not started', async () => {
  const clock = virtualClock()
  const slow = await scene({ clock })
  await happens(() => clock.set > 0)
  clock.advance(30_000)
  expect(await slow.starting).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
  const { guest, starting } = await scene()
  guest.exit(2)
  expect(await starting).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
})

test('a guest whose Log was changed is not started, and one that changes it is stopped before its answer is used', async () => {
  const tampered: Result<void> = failed('log_damaged', 'changed')
  const before = await scene({
    logs: { verify: async () => tampered, follow: async () => ok(undefined) },
  })
  expect(await before.starting).toEqual(tampered)
  const { guest, host, frames } = await running({
    logs: { verify: async () => ok(undefined), follow: async () => tampered },
  })
  value(host.send(message('m1')))
  guest.write(DONE)
  expect((await host.ended).reason?.kind).toBe('log_damaged')
  expect(frames).toEqual([])
})

test('frames after the end of a message cost the server neither a look at Logs nor a line each', async () => {
  let looks = 0
  const follow = async () => {
    looks += 1
    return ok(undefined)
  }
  const { guest, host, frames, notes, until } = await running({
    logs: { verify: async () => ok(undefined), follow },
  })
  value(host.send(message('m1')))
  value(host.send(message('m2')))
  for (let at = 0; at < 300; at += 1) guest.write({ ...DONE, msg_id: `r${at}` })
  guest.write({ ...DONE, msg_id: 'last', in_reply_to: 'm2', turn_id: OTHER_TURN })
  await until(2)
  expect([frames.length, looks]).toEqual([2, 2])
  expect(notes.length).toBeLessThan(30)
  await host.stop()
  expect(notes.at(-1)).toMatchObject({ event: 'guest_ended', dropped: 299 })
})

test('a message whose Log does not hold has no end, and is delivered to the next guest', async () => {
  const book = new MessageBook()
  const { guest, host } = await running({
    book,
    logs: { verify: async () => ok(undefined), follow: async () => failed('log_damaged', 'x') },
  })
  value(host.send(message('m1')))
  guest.write(DONE)
  await host.ended
  expect(book.unendedMessages.map(({ msg_id }) => msg_id)).toEqual(['m1'])
})

test('more than 4 MB of messages without an end are delivered as fast as the guest reads', async () => {
  const book = new MessageBook()
  const text = 'x'.repeat(190 * 1024)
  for (let at = 0; at < 60; at += 1) book.add(message(`m${at}`, text))
  const { guest, host } = await running({ book })
  // Each is preceded by a line that vouches for it.
  await happens(() => guest.lines().length === 121)
  expect((await host.stop()).reason).toBeUndefined()
})

test('a guest that is ready but reads nothing of what waits for it is not started', async () => {
  const clock = virtualClock()
  const book = new MessageBook()
  for (let at = 0; at < 60; at += 1) book.add(message(`m${at}`, 'x'.repeat(190 * 1024)))
  const { guest, starting } = await scene({ clock, book })
  guest.socket.pause()
  guest.write({ type: 'guest.ready' })
  await happens(() => clock.set > 0)
  clock.advance(30_000)
  expect(await starting).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
  expect(guest.steps).toEqual(['stop 0'])
})

test('a guest that answers every ping it gets is never stopped for it, however many there are', async () => {
  const book = new MessageBook()
  const first = await running({ book })
  const ping = (id: string) => ({ ...envelope(id, 'default'), type: 'control.ping', payload: {} })
  const pinged = (lines: readonly string[]) =>
    lines.flatMap((line) => /"msg_id":"(p\d+)"/.exec(line)?.[1] ?? [])
  value(first.host.send(ping('p1') as FrameToGuest))
  await first.host.stop()
  const { guest, host, frames, until } = await running({ book })
  // The first guest took its ping with it.
  for (let at = 0; at < 2_000; at += 1) value(host.send(ping(`p${at >> 1}`) as FrameToGuest))
  value(host.send(message('m1')))
  await happens(() => guest.lines().some((line) => line.includes('user.message')))
  const asked = pinged(guest.lines())
  for (const [at, id] of asked.entries())
    guest.write(reply('status.pong', {}, { turn_id: undefined, in_reply_to: id, msg_id: `r${at}` }))
  guest.write({ ...DONE, msg_id: 'last' })
  await until(asked.length + 1)
  expect([asked.length, new Set(asked).size, frames.at(-1)?.type]).toEqual([
    1_000,
    1_000,
    'assistant.done',
  ])
  expect((await host.stop()).reason).toBeUndefined()
})

test('a guest that does not read is stopped when 4 MB wait', async () => {
  const { guest, host } = await running()
  guest.socket.pause()
  const text = 'x'.repeat(190 * 1024)
  const sent: Result<void>[] = []
  for (let at = 0; at < 60 && sent.every(({ ok: isSent }) => isSent); at += 1)
    sent.push(host.send(message(`m${at}`, text)))
  expect(sent.at(-1)).toMatchObject({ ok: false, error: { kind: 'backpressure' } })
  expect(sent.length).toBeLessThan(40)
  expect((await host.ended).reason?.kind).toBe('backpressure')
  expect(host.send(message('late'))).toMatchObject({ ok: false })
})

test('a message that is too long, or has images where none can be, is not sent', async () => {
  const { host } = await running({ start: { ...START, images: false } })
  const images = [{ media_type: 'image/png', blob: `${'a'.repeat(64)}.png`, size: 1 }] as const
  const pictured: FrameToGuest = {
    ...envelope('m1', 'default'),
    type: 'user.message',
    payload: { text: '', images },
  }
  expect(host.send(pictured)).toMatchObject({ error: { kind: 'images_require_workspace' } })
  expect(host.send(message('m2', 'x'.repeat(201 * 1024)))).toMatchObject({
    error: { kind: 'too_large' },
  })
  expect(host.send(message('m3', '\u0001'.repeat(100 * 1024)))).toMatchObject({
    error: { kind: 'too_large' },
  })
  await host.stop()
})

test('a resumed guest receives the length of its pause before it continues', async () => {
  const { guest, host } = await running()
  value(await host.pause())
  expect(value(await host.resume())).toBe(7)
  await happens(() => guest.lines().at(-1) === '{"type":"guest.resumed","paused_ms":7}')
  expect(guest.steps).toEqual(['pause', 'resume'])
  await host.stop()
})

test('a guest that cannot be paused because it starts too many processes is stopped', async () => {
  const guest = await fakeGuest()
  const outrun = failed('timeout', 'too fast')
  const process = { ...guest.process, pause: async () => outrun }
  const starting = scene({ launch: async () => ok(process) })
  guest.write({ type: 'guest.ready' })
  const host = value(await (await starting).starting)
  expect(await host.pause()).toEqual(outrun)
  expect((await host.ended).reason).toEqual(outrun.error)
})

test.each([
  ['x'.repeat(300 * 1024), 'a line that is too long'],
  ['hello\n', 'a line that is not JSON'],
  ['[]\n', 'a line that is not a JSON object'],
  [Buffer.from([0xff, 0x0a]), 'a line that is not UTF-8'],
  [`${'{"a":'.repeat(30)}1${'}'.repeat(30)}\n`, 'a line that is nested too deep'],
])('the reason for a wrong line %# is a sentence', async (line, what) => {
  const { guest, host } = await running()
  guest.socket.write(line)
  const { reason } = await host.ended
  expect(reason?.message).toBe(`The agent was stopped because it sent ${what}.`)
})

test.each([true, false])(
  'what outlives a guest and holds its socket is not used, and waited for at most 2 s; it sends %s',
  async (sends) => {
    const clock = virtualClock()
    const { guest, starting, frames } = await scene({ clock })
    await happens(() => clock.set > 0)
    guest.exit(0, true)
    await happens(() => clock.pending().length > 1)
    if (sends) {
      guest.write({ type: 'guest.ready' })
      guest.write(DONE)
    }
    clock.advance(2_000)
    expect(await starting).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
    expect(frames).toEqual([])
  },
)

test('a guest that becomes ready after its sandbox was killed is waited for: it may hold a Session', async () => {
  const clock = virtualClock()
  const { guest, starting } = await scene({ clock })
  await happens(() => clock.set > 0)
  guest.exit(0, true)
  await happens(() => clock.pending().length > 1)
  guest.write({ type: 'guest.ready' })
  // More than the socket holds: it is written when it was read.
  await new Promise<void>((resolve, reject) => {
    guest.socket.once('error', reject)
    const line = `${JSON.stringify({ text: 'a'.repeat(2_000) })}\n`
    guest.socket.write(line.repeat(2_000), () => resolve())
  })
  expect(clock.pending()).toContain(2_000)
  guest.socket.destroy()
  expect(await starting).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
})
