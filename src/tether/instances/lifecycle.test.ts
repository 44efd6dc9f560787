import { describe, expect, test } from 'vitest'
import {
  guests,
  cancel,
  ended,
  ends,
  inState,
  message,
  withInstance,
} from '../../../test/support/tether/instances-place.ts'
import { value } from '../../../test/support/log/story.ts'
import { until } from '../../../test/support/host/virtual-clock.ts'
import { failed } from '../../model/errors.ts'

const IDLE = { pause_seconds: 60, stop_seconds: 300 }

/** An Instance whose guest runs and has no work. */
async function idle(request: object = {}) {
  const place = await withInstance({ idle: IDLE, ...request })
  value(await place.instances.act('a', 'start'))
  return place
}

/** An Instance whose guest works on `m1`. */
async function working(request: object = {}) {
  const place = await withInstance({ idle: IDLE, ...request })
  value(await place.instances.send('a', message('m1')))
  await inState(place.instances, 'running')
  return place
}

describe('an idle guest', () => {
  test('is paused, then stopped, and a message wakes it from either', async () => {
    const { instances, runtime, clock } = await idle()
    clock.advance(59_999)
    expect(value(await instances.info('a')).state).toBe('running')
    clock.advance(1)
    await inState(instances, 'paused')
    value(await instances.send('a', message('m1')))
    await inState(instances, 'running')
    expect([runtime.guest.steps, runtime.guest.messages()]).toEqual([['pause', 'resume'], ['m1']])
    await runtime.guest.answer('m1')
    clock.advance(60_000)
    await inState(instances, 'paused')
    clock.advance(300_000)
    await inState(instances, 'stopped')
    expect(runtime.guest.steps).toEqual(['pause', 'resume', 'pause', 'stop'])
    value(await instances.send('a', message('m2')))
    await guests(runtime, 2)
    expect(runtime.guest.messages()).toEqual(['m2'])
  })

  test('is not paused while a message has not ended, and waits again after its end', async () => {
    const { instances, runtime, clock } = await working()
    clock.advance(600_000)
    expect(runtime.guest.steps).toEqual([])
    await runtime.guest.answer('m1')
    clock.advance(59_000)
    expect(runtime.guest.steps).toEqual([])
    clock.advance(1_000)
    await inState(instances, 'paused')
  })

  test('is stopped if it cannot be paused', async () => {
    const { instances, runtime, clock } = await idle()
    runtime.guest.pausing = failed('unreadable', 'There is no /proc.')
    clock.advance(60_000)
    await inState(instances, 'stopped')
    expect(runtime.guest.steps).toEqual(['pause', 'stop'])
    expect(value(await instances.info('a')).reason).toBeUndefined()
  })

  test('gets a message that arrives while it is stopped from the next one', async () => {
    const { instances, runtime, clock } = await idle()
    clock.advance(60_000)
    await inState(instances, 'paused')
    clock.advance(300_000)
    value(await instances.send('a', message('m1')))
    await guests(runtime, 2)
    await until(() => runtime.guest.messages().length > 0)
    expect(runtime.guest.messages()).toEqual(['m1'])
  })
})

describe('a guest that crashes', () => {
  test('is started again after a growing time, and gets what has not ended', async () => {
    const { instances, runtime, clock } = await working()
    const waits = [500, 1_000, 2_000, 4_000]
    for (const [at, ms] of waits.entries()) {
      runtime.guest.crash()
      await inState(instances, 'stopped')
      await until(() => clock.pending().includes(ms))
      clock.advance(ms - 1)
      expect(runtime.guests).toHaveLength(at + 1)
      clock.advance(1)
      await guests(runtime, at + 2)
      expect(runtime.guest.messages()).toEqual(['m1'])
    }
    await runtime.guest.answer('m1')
    expect(await ends(instances, 'm1')).toEqual(['Done.'])
  })

  test('stops with a reason after five quick crashes, and its messages end', async () => {
    const { instances, runtime, clock } = await working()
    for (const ms of [500, 1_000, 2_000, 4_000]) {
      runtime.guest.crash()
      await until(() => clock.pending().includes(ms))
      clock.advance(ms)
      await inState(instances, 'running')
    }
    runtime.guest.crash()
    expect(await ended(instances, 'm1')).toEqual(['wake_failed'])
    await inState(instances, 'stopped')
    const { reason } = value(await instances.info('a'))
    expect(reason).toEqual({ kind: 'wake_failed', message: expect.stringContaining('five times') })
    const refused = await instances.send('a', message('m2'))
    expect(refused).toMatchObject({ ok: false, error: { kind: 'wake_failed' } })
    if (!refused.ok) expect(refused.error.next_actions[0]?.command).toBe('hawser instance start a')
    expect(await ends(instances, 'm2')).toEqual([])
    expect(runtime.guests).toHaveLength(5)
    clock.advance(120_000)
    value(await instances.send('a', message('m3')))
    await guests(runtime, 6)
    expect(runtime.guest.messages()).toEqual(['m3'])
    expect(value(await instances.info('a')).reason).toBeUndefined()
  })

  test('breaks the rules of frames only once: its messages end with the reason', async () => {
    const { instances, runtime, clock } = await working()
    runtime.guest.crash('invalid_response')
    expect(await ended(instances, 'm1')).toEqual(['wake_failed'])
    const { frames } = value(await instances.poll('a', { types: ['error'], after_seq: 0 }))
    expect(frames[0]?.payload).toMatchObject({ message: 'It crashed.' })
    const reason = { kind: 'invalid_response', message: 'It crashed.' }
    expect(value(await instances.info('a'))).toMatchObject({ state: 'stopped', reason })
    expect(await instances.send('a', message('m2'))).toMatchObject({
      error: { kind: 'wake_failed', details: { reason: 'invalid_response' } },
    })
    expect(runtime.guests).toHaveLength(1)
    expect(value(await instances.act('a', 'start')).state).toBe('running')
    clock.advance(1)
    value(await instances.send('a', message('m3')))
  })

  test('starts at once when a person starts it', async () => {
    const { instances, runtime } = await working()
    runtime.guest.crash()
    await inState(instances, 'stopped')
    expect(value(await instances.act('a', 'start'))).toMatchObject({ state: 'running' })
    expect(runtime.guests).toHaveLength(2)
    expect(runtime.guest.messages()).toEqual(['m1'])
  })

  test('is not started without work, but the reason is shown', async () => {
    const { instances, runtime, clock } = await idle()
    runtime.guest.crash()
    await inState(instances, 'stopped')
    clock.advance(60_000)
    expect(runtime.guests).toHaveLength(1)
    expect(value(await instances.info('a')).reason?.kind).toBe('wake_failed')
  })

  test('waits a short time again after it has ended a message', async () => {
    const { instances, runtime, clock } = await working()
    runtime.guest.crash()
    await until(() => clock.pending().includes(500))
    clock.advance(500)
    await inState(instances, 'running')
    await runtime.guest.answer('m1')
    value(await instances.send('a', message('m2')))
    runtime.guest.crash()
    await until(() => clock.pending().includes(500))
    expect(clock.pending()).not.toContain(1_000)
  })

  test('while it is paused is replaced for the next message', async () => {
    const { instances, runtime, clock } = await idle()
    clock.advance(60_000)
    await inState(instances, 'paused')
    runtime.guest.crash()
    await inState(instances, 'stopped')
    value(await instances.send('a', message('m1')))
    await until(() => clock.pending().includes(500))
    clock.advance(500)
    await guests(runtime, 2)
    expect(runtime.guest.messages()).toEqual(['m1'])
  })
})

describe('a guest that cannot be started', () => {
  test.each(['sandbox_unavailable', 'not_configured', 'log_damaged'] as const)(
    'because of %s ends the messages that wait, and later ones are refused',
    async (kind) => {
      const { instances, runtime, clock } = await withInstance()
      runtime.failures = [failed(kind, 'It is not possible.').error]
      value(await instances.send('a', message('m1')))
      expect(await ended(instances, 'm1')).toEqual(['wake_failed'])
      const reason = { kind, message: 'It is not possible.' }
      await until(() => runtime.orders.length === 1)
      expect(value(await instances.info('a'))).toMatchObject({ state: 'stopped', reason })
      const refused = { error: { kind: 'wake_failed', details: { reason: kind } } }
      expect(await instances.send('a', message('m2'))).toMatchObject(refused)
      clock.advance(120_000)
      const later = await instances.send('a', message('m3'))
      // A Log that was changed stays changed.
      expect(later.ok).toBe(kind !== 'log_damaged')
      expect(value(await instances.act('a', 'start')).state).toBe('running')
      value(await instances.send('a', message('m4')))
    },
  )

  test('tells its caller', async () => {
    const { instances, runtime } = await withInstance()
    runtime.failures = [failed('sandbox_unavailable', 'No sandbox.').error]
    expect(await instances.act('a', 'start')).toMatchObject({
      error: { kind: 'sandbox_unavailable' },
    })
  })

  test('is tried again if it may pass', async () => {
    const { instances, runtime, clock } = await withInstance()
    runtime.failures = [failed('wake_failed', 'It was not ready.').error]
    value(await instances.send('a', message('m1')))
    await until(() => clock.pending().includes(500))
    clock.advance(500)
    await guests(runtime, 1)
    await runtime.guest.answer('m1')
    expect(await ends(instances, 'm1')).toEqual(['Done.'])
  })
})

describe('a person', () => {
  test('pauses and resumes a guest that works; it is not stopped meanwhile', async () => {
    const { instances, runtime, clock } = await working()
    expect(value(await instances.act('a', 'pause')).state).toBe('paused')
    clock.advance(1_000_000)
    expect(value(await instances.info('a')).state).toBe('paused')
    expect(value(await instances.act('a', 'resume')).state).toBe('running')
    expect(runtime.guest.steps).toEqual(['pause', 'resume'])
  })

  test('stops a guest: what waits stays, and runs after the next start', async () => {
    const { instances, runtime, clock } = await working()
    expect(value(await instances.act('a', 'stop'))).toMatchObject({ state: 'stopped', waiting: 1 })
    clock.advance(1_000_000)
    expect(runtime.guests).toHaveLength(1)
    value(await instances.act('a', 'start'))
    expect(runtime.guest.messages()).toEqual(['m1'])
  })

  test('disables an Instance: its messages end, and it refuses more until it is enabled', async () => {
    const { instances, runtime } = await working()
    expect(value(await instances.act('a', 'disable'))).toMatchObject({
      state: 'stopped',
      enabled: false,
      waiting: 0,
    })
    expect(await ends(instances, 'm1')).toEqual(['instance_disabled'])
    const refused = { error: { kind: 'instance_disabled' } }
    expect(await instances.send('a', message('m2'))).toMatchObject(refused)
    expect(await instances.act('a', 'start')).toMatchObject(refused)
    value(await instances.act('a', 'enable'))
    value(await instances.send('a', message('m3')))
    await guests(runtime, 2)
    expect(runtime.guest.messages()).toEqual(['m3'])
  })
})

describe('a cancellation', () => {
  test('goes to the guest, with the name of the message', async () => {
    const { instances, runtime } = await working()
    value(await instances.send('a', cancel('c1')))
    await until(() => runtime.guest.cancels().length > 0)
    expect(runtime.guest.cancels()).toEqual(['m1'])
    const { frames } = value(await instances.poll('a', { types: ['control.cancel'] }))
    expect(frames).toMatchObject([{ msg_id: 'c1', in_reply_to: 'm1' }])
  })

  test('ends a message that no guest has', async () => {
    const { instances } = await working()
    value(await instances.act('a', 'stop'))
    value(await instances.send('a', cancel('c1', 'm1')))
    expect(await ended(instances, 'm1')).toEqual(['interrupted'])
    expect(value(await instances.info('a'))).toMatchObject({ state: 'stopped', waiting: 0 })
  })

  test('that arrives while the guest is started is delivered after the message', async () => {
    const { instances, runtime } = await withInstance()
    let open = () => {}
    runtime.gate = new Promise((resolve) => {
      open = resolve
    })
    value(await instances.send('a', message('m1')))
    await until(() => runtime.orders.length === 1)
    value(await instances.send('a', cancel('c1')))
    open()
    await inState(instances, 'running')
    expect(runtime.guest.received.map(({ msg_id }) => msg_id)).toEqual(['m1', 'c1'])
  })

  test('is not lost if the guest crashes: the message ends, and is not delivered again', async () => {
    const { instances, runtime } = await working()
    value(await instances.send('a', message('m2', {}, 'other')))
    value(await instances.send('a', cancel('c1')))
    runtime.guest.crash()
    expect(await ended(instances, 'm1')).toEqual(['interrupted'])
    value(await instances.act('a', 'start'))
    expect(runtime.guest.messages()).toEqual(['m2'])
  })

  test('of nothing is stored, and starts nothing', async () => {
    const { instances, runtime } = await withInstance()
    value(await instances.send('a', cancel('c1')))
    expect(runtime.orders).toEqual([])
  })
})

test('a message that replaces others cancels those of its conversation', async () => {
  const { instances, runtime } = await working()
  value(await instances.send('a', message('m2')))
  value(await instances.send('a', message('m3', {}, 'other')))
  value(await instances.send('a', message('m4', { when_busy: 'replace' })))
  await until(() => runtime.guest.messages().includes('m4'))
  expect(runtime.guest.cancels()).toEqual(['m1', 'm2'])
  // Sent again, it cancels nothing.
  value(await instances.send('a', message('m4', { when_busy: 'replace' })))
  expect(runtime.guest.cancels()).toEqual(['m1', 'm2'])
})

describe('a message that runs too long', () => {
  const limited = { message_seconds: 100 }

  test('is cancelled, and may end by that', async () => {
    const { instances, runtime, clock } = await working(limited)
    clock.advance(99_999)
    expect(runtime.guest.cancels()).toEqual([])
    clock.advance(1)
    await until(() => runtime.guest.cancels().length > 0)
    await runtime.guest.answer('m1', 'Half of it.')
    clock.advance(31_000)
    expect(await ends(instances, 'm1')).toEqual(['Half of it.'])
    expect(runtime.guest.steps).toEqual([])
  })

  test('ends with its guest 30 s later, and the others run in the next one', async () => {
    const { instances, runtime, clock } = await working(limited)
    value(await instances.send('a', message('m2')))
    clock.advance(100_000)
    await until(() => runtime.guest.cancels().length > 0)
    clock.advance(30_000)
    expect(await ended(instances, 'm1')).toEqual(['timeout'])
    await guests(runtime, 2)
    expect(runtime.guests[0]?.steps).toEqual(['stop 0'])
    expect(runtime.guest.messages()).toEqual(['m2'])
  })

  test('does not count the time of a pause, nor the time in the queue', async () => {
    const { instances, runtime, clock } = await working(limited)
    value(await instances.send('a', message('m2')))
    clock.advance(60_000)
    value(await instances.act('a', 'pause'))
    clock.advance(1_000_000)
    value(await instances.act('a', 'resume'))
    clock.advance(39_000)
    await runtime.guest.answer('m1')
    clock.advance(99_000)
    expect(runtime.guest.cancels()).toEqual([])
    clock.advance(1_000)
    await until(() => runtime.guest.cancels().length > 0)
    expect(runtime.guest.cancels()).toEqual(['m2'])
  })
})
