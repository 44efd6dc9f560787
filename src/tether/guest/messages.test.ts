import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { gatedModel } from '../../../test/support/session/gated-model.ts'
import { openParts, withClock } from '../../../test/support/session/harness-parts.ts'
import { envelope } from '../../../test/support/tether/host-end.ts'
import { value } from '../../../test/support/log/story.ts'
import { until, virtualClock } from '../../../test/support/host/virtual-clock.ts'
import { systemClock } from '../../host/clock.ts'
import { nextRound } from '../../host/wait.ts'
import { systemIds } from '../../host/ids.ts'
import { ok } from '../../model/errors.ts'
import type { FrameToHost } from '../../model/tether/frame.ts'
import { Harness } from '../../session/harness.ts'
import { GuestFrames } from '../frames/guest-frames.ts'
import { InstanceSessions } from './instance-sessions.ts'
import { Messages } from './messages.ts'

const START = {
  type: 'guest.start',
  instance: 'inst_1',
  workspace: '',
  provider: 'rehearsal',
  model: 'rehearsal',
  permission_mode: 'auto',
  replay: 'window',
  images: true,
} as const

/** Opens on request. */
function gate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

/** The Turn of `m1` has ended, but the server has not taken its frames yet. That of `m2` runs until `end`. */
async function scene() {
  const [first, second] = [gatedModel(), gatedModel()]
  first.open()
  const reading = gate()
  let model = first
  const provider: typeof first.provider = {
    ...first.provider,
    stream: (body, signal) => model.provider.stream(body, signal),
  }
  const { parts, close } = await openParts(await freshFolder(), {
    model: { providerOf: async () => ok(provider) },
  })
  const harness = new Harness(parts)
  const sessions = new InstanceSessions(harness, START)
  const sent: FrameToHost[] = []
  const messages = new Messages({
    start: START,
    harness,
    sessions,
    frames: new GuestFrames(systemClock, systemIds(systemClock)),
    clock: systemClock,
    send: async (frame) => {
      sent.push(frame)
      if (frame.in_reply_to === 'm1' && frame.type === 'assistant.delta') await reading.opened
    },
    onDefect: (error) => {
      throw error
    },
  })
  const say = (msg_id: string) => {
    const payload = { text: 'What happened?' }
    messages.receive({ ...envelope(msg_id, 'default'), type: 'user.message', payload })
  }
  const cancel = (named: object) => {
    messages.cancel({
      ...envelope('c1', 'default'),
      ...named,
      type: 'control.cancel',
      payload: {},
    })
  }
  const has = (msg_id: string, type: FrameToHost['type']) =>
    sent.some((frame) => frame.in_reply_to === msg_id && frame.type === type)
  say('m1')
  await until(() => has('m1', 'assistant.delta'))
  const session = value(await sessions.session({ channel: 'host', id: 'default' }))
  await until(() => !session.busy)
  model = second
  say('m2')
  await until(() => has('m2', 'status.presence'))
  const end = async () => {
    second.open()
    await until(() => !session.busy)
    reading.open()
    await messages.ended()
    await harness.close()
    await close()
    return sent.flatMap((frame) =>
      frame.type === 'assistant.done' ? [[frame.in_reply_to, frame.payload.status]] : [],
    )
  }
  return { cancel, end }
}

test('a cancelled message whose Turn is over leaves the Turn of the next message alone', async () => {
  const { cancel, end } = await scene()
  cancel({ in_reply_to: 'm1' })
  expect(await end()).toEqual([
    ['m1', 'completed'],
    ['m2', 'completed'],
  ])
})

test('a cancel without a name means the message whose Turn runs', async () => {
  const { cancel, end } = await scene()
  cancel({})
  expect(await end()).toEqual([
    ['m1', 'completed'],
    ['m2', 'interrupted'],
  ])
})

/** Another process holds the Session of `m1`, and `m2` has noticed that. */
async function busyScene() {
  const { parts, close } = await openParts(await freshFolder())
  const clock = virtualClock()
  const harness = new Harness(withClock(parts, clock))
  const sessions = new InstanceSessions(harness, START)
  const ends: FrameToHost[] = []
  const messages = new Messages({
    start: START,
    harness,
    sessions,
    frames: new GuestFrames(systemClock, systemIds(systemClock)),
    clock,
    send: async (frame) => {
      if (frame.type === 'assistant.done' || frame.type === 'error') ends.push(frame)
    },
    onDefect: (error) => {
      throw error
    },
  })
  const say = (msg_id: string) => {
    const payload = { text: 'What happened?' }
    messages.receive({ ...envelope(msg_id, 'default'), type: 'user.message', payload })
  }
  say('m1')
  await until(() => ends.length === 1)
  const session = value(await sessions.session({ channel: 'host', id: 'default' }))
  await until(() => !session.busy)
  const lease = value(await parts.log.place.leases.take(session.id))
  say('m2')
  await until(() => clock.pending().includes(50))
  const finish = async () => {
    await messages.ended()
    await harness.close()
    await close()
    return ends.map(({ in_reply_to, type }) => [in_reply_to, type])
  }
  return { clock, lease, messages, finish }
}

test('a message waits for a Session that a killed guest still holds', async () => {
  const { clock, lease, finish } = await busyScene()
  await lease.giveBack()
  clock.advance(50)
  expect(await finish()).toEqual([
    ['m1', 'assistant.done'],
    ['m2', 'assistant.done'],
  ])
})

test('a message ends with an error if its Session stays in use', async () => {
  const { clock, lease, finish } = await busyScene()
  clock.advance(10_000)
  const ends = await finish()
  await lease.release()
  expect(ends).toEqual([
    ['m1', 'assistant.done'],
    ['m2', 'error'],
  ])
})

test('a message that waits for its Session has no end when the guest is closed', async () => {
  const { clock, lease, messages, finish } = await busyScene()
  messages.close()
  clock.advance(50)
  const ends = await finish()
  await lease.release()
  expect(ends).toEqual([['m1', 'assistant.done']])
})

/** Both messages have run for an earlier guest. The server takes the acknowledgement of `m1` late. */
async function repeatedScene() {
  const { parts, close } = await openParts(await freshFolder())
  const harness = new Harness(parts)
  const sessions = new InstanceSessions(harness, START)
  const late = gate()
  const ends: (string | undefined)[] = []
  const guest = (isLate: boolean) => {
    const messages = new Messages({
      start: START,
      harness,
      sessions,
      frames: new GuestFrames(systemClock, systemIds(systemClock)),
      clock: systemClock,
      send: async ({ type, in_reply_to, payload }) => {
        if (type === 'assistant.done') ends.push(in_reply_to)
        const isFirst = in_reply_to === 'm1' && type === 'event.ack'
        if (isLate && isFirst && payload.status === 'repeated') await late.opened
      },
      onDefect: (error) => {
        throw error
      },
    })
    for (const msg_id of ['m1', 'm2']) {
      const payload = { text: 'What happened?' }
      messages.receive({ ...envelope(msg_id, 'default'), type: 'user.message', payload })
    }
    return messages
  }
  await guest(false).ended()
  ends.length = 0
  const messages = guest(true)
  // That of `m2` is found meanwhile.
  for (let round = 0; round < 50; round++) await nextRound()
  const finish = async () => {
    late.open()
    await messages.ended()
    await harness.close()
    await close()
    return ends
  }
  return { ends, finish }
}

test('answers that are found in the Log do not overtake each other', async () => {
  const { ends, finish } = await repeatedScene()
  expect(ends).toEqual([])
  expect(await finish()).toEqual(['m1', 'm2'])
})
