import { GuestHost, type GuestHostParts } from '../../../src/tether/server/guest-host.ts'
import { MessageBook } from '../../../src/tether/server/message-book.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { ok } from '../../../src/model/errors.ts'
import type { FrameToGuest, FrameToHost } from '../../../src/model/tether/frame.ts'
import { fakeGuest } from './fake-guest.ts'
import { envelope } from './host-end.ts'
import { value } from '../log/story.ts'

export const START = {
  instance: 'inst_1',
  workspace: '/workspace',
  provider: 'rehearsal',
  model: 'rehearsal',
  permission_mode: 'auto',
  replay: 'window',
  images: true,
} as const

const TURN = 'trn_01kg8m2q3r4s5t6v7w8x9y0z12'
export const OTHER_TURN = 'trn_01kg8m2q3r4s5t6v7w8x9y0z13'

export function message(msg_id: string, text = 'Hello'): FrameToGuest {
  return { ...envelope(msg_id, 'default'), type: 'user.message', payload: { text } }
}

export function reply(type: string, payload: object, more: object = {}) {
  return { ...envelope('r1', 'default'), type, in_reply_to: 'm1', turn_id: TURN, payload, ...more }
}

export const DONE = reply('assistant.done', { text: 'Hi', status: 'completed' })

/** The server's side of a guest that the test plays. */
export async function scene(changes: Partial<GuestHostParts> = {}) {
  const guest = await fakeGuest()
  const frames: FrameToHost[] = []
  const notes: object[] = []
  const arrived: (() => void)[] = []
  const starting = GuestHost.start({
    start: START,
    launch: async () => ok(guest.process),
    relay: () => ({ close: () => {} }),
    logs: { verify: async () => ok(undefined), follow: async () => ok(undefined) },
    book: new MessageBook(),
    clock: systemClock,
    onFrame: (frame) => {
      frames.push(frame)
      for (const look of arrived) look()
    },
    note: (entry) => void notes.push(entry),
    ...changes,
  })
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      const look = () => void (frames.length >= count && resolve())
      arrived.push(look)
      look()
    })
  return { guest, frames, notes, starting, until }
}

/** The same, when the guest is ready. */
export async function running(changes: Partial<GuestHostParts> = {}) {
  const made = await scene(changes)
  made.guest.write({ type: 'guest.ready' })
  return { ...made, host: value(await made.starting) }
}
