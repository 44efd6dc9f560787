import { expect, test } from 'vitest'
import { LineToGuest, LineToHost } from './guest-line.ts'

const MESSAGE = {
  v: 1,
  type: 'user.message',
  ts: '2026-11-17T10:00:00.000Z',
  session: { channel: 'host', id: 'default' },
  msg_id: 'm1',
  payload: { text: 'Hello' },
}
const DONE = {
  ...MESSAGE,
  type: 'assistant.done',
  in_reply_to: 'm1',
  payload: { text: 'Hi', status: 'completed' },
}

test('a guest is sent messages and pauses, and never its own kind of frame', () => {
  expect(LineToGuest.safeParse(MESSAGE).success).toBe(true)
  expect(LineToGuest.safeParse({ type: 'guest.resumed', paused_ms: 5 }).success).toBe(true)
  expect(LineToGuest.safeParse(DONE).success).toBe(false)
  expect(LineToGuest.safeParse({ type: 'guest.ready' }).success).toBe(false)
})

test('a guest sends answers, and can neither speak for a person nor for the server', () => {
  expect(LineToHost.safeParse(DONE).success).toBe(true)
  expect(LineToHost.safeParse({ type: 'guest.ready' }).success).toBe(true)
  expect(LineToHost.safeParse(MESSAGE).success).toBe(false)
  expect(LineToHost.safeParse({ type: 'guest.resumed', paused_ms: 5 }).success).toBe(false)
})
