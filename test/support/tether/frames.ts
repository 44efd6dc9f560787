import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'

const TS = '2026-11-17T10:00:00.000Z'

interface Address {
  readonly channel?: string
  readonly id?: string
}

function envelope(msg_id: string, { channel = 'host', id = 'default' }: Address) {
  return { v: 1, ts: TS, session: { channel, id }, msg_id } as const
}

export function userMessage(msg_id: string, address: Address = {}, text = 'Hello'): FrameToGuest {
  return { ...envelope(msg_id, address), type: 'user.message', payload: { text } }
}

export function delta(msg_id: string, in_reply_to: string, address: Address = {}): FrameToHost {
  const payload = { text: msg_id }
  return { ...envelope(msg_id, address), type: 'assistant.delta', in_reply_to, payload }
}

export function presence(msg_id: string, in_reply_to: string, address: Address = {}): FrameToHost {
  const payload = { state: 'thinking' }
  return { ...envelope(msg_id, address), type: 'status.presence', in_reply_to, payload }
}

export function done(
  msg_id: string,
  in_reply_to: string,
  address: Address = {},
  text = 'Done',
): FrameToHost {
  const payload = { text, status: 'completed' } as const
  return { ...envelope(msg_id, address), type: 'assistant.done', in_reply_to, payload }
}

export function errorFrame(msg_id: string, in_reply_to: string): FrameToHost {
  const payload = { kind: 'interrupted', message: 'Stopped.', retryable: false } as const
  return { ...envelope(msg_id, {}), type: 'error', in_reply_to, payload }
}
