import { rm } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { CANARY_KEY } from '../../test/support/host/canary.ts'
import {
  guests,
  ended,
  instancesPlace,
  message,
  withInstance,
} from '../../test/support/tether/instances-place.ts'
import { filesWithKey, revealsKey } from '../../test/support/session/keyed-place.ts'
import { value } from '../../test/support/log/story.ts'
import { KEY_PLACEHOLDER, Redactor } from '../encoding/redaction.ts'
import type { LiveFrame } from './frames/frame-log.ts'
import { redactedTether } from './redacted-tether.ts'

const redactor = new Redactor([CANARY_KEY])

async function place() {
  const all = await instancesPlace()
  const tether = redactedTether(all.instances, () => redactor)
  value(await tether.create({ handle: 'a' }, 'operator'))
  return { ...all, tether }
}

test('a key in a message is neither stored, nor delivered, nor returned', async () => {
  const { tether, runtime, home } = await place()
  const user = { id: CANARY_KEY, name: `Ann ${CANARY_KEY}` }
  const sent = message('m1', { text: `Use ${CANARY_KEY}.`, user, note: { key: CANARY_KEY } })
  const first = value(await tether.send('a', sent))
  await guests(runtime, 1)
  expect(runtime.guest.received[0]?.payload).toEqual({
    text: `Use ${KEY_PLACEHOLDER}.`,
    user: { id: KEY_PLACEHOLDER, name: `Ann ${KEY_PLACEHOLDER}` },
    note: { key: KEY_PLACEHOLDER },
  })
  const page = value(await tether.poll('a', { after_seq: 0 }))
  expect(revealsKey(JSON.stringify(page))).toBe(false)
  expect(await filesWithKey(home)).toEqual([])
  // The same message again is the same message.
  expect(value(await tether.send('a', sent))).toEqual(first)
  expect(value(await tether.poll('a', { after_seq: 0 })).frames).toHaveLength(page.frames.length)
  expect(runtime.guest.messages()).toEqual(['m1'])
  await runtime.guest.answer('m1')
})

test('what was stored when the key was not known is redacted when it is read', async () => {
  const { instances, runtime, root } = await withInstance()
  // The frame log of the time before contains the key, and a run fails if it leaves the key anywhere.
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  let now = new Redactor([])
  const tether = redactedTether(instances, () => now)
  value(await tether.send('a', message('m1', { text: `Use ${CANARY_KEY}.` })))
  await guests(runtime, 1)
  await runtime.guest.answer('m1', `It is ${CANARY_KEY}.`)
  await ended(tether, 'm1')
  now = redactor
  const page = value(await tether.poll('a', { after_seq: 0 }))
  expect(page.frames).toHaveLength(2)
  expect(revealsKey(JSON.stringify(page))).toBe(false)
  const stop = new AbortController()
  const seen: LiveFrame[] = []
  for await (const frame of value(await tether.follow('a', 0, {}, stop.signal))) {
    seen.push(frame)
    if (seen.length === 2) stop.abort()
  }
  expect(revealsKey(JSON.stringify(seen))).toBe(false)
})

test.each(['handle', 'provider', 'model', 'workspace'])(
  'an Instance whose %s contains a key is refused',
  async (field) => {
    const { tether, home } = await place()
    const request = { handle: 'b', [field]: `x-${CANARY_KEY}` }
    const created = await tether.create(request, 'operator')
    expect(created).toMatchObject({ error: { kind: 'invalid_args', details: { field } } })
    expect(revealsKey(JSON.stringify(created))).toBe(false)
    expect(value(await tether.list())).toHaveLength(1)
    expect(await filesWithKey(home)).toEqual([])
  },
)

test.each([
  ['msg_id', { msg_id: CANARY_KEY }],
  ['in_reply_to', { in_reply_to: CANARY_KEY }],
  ['session.id', { session: { channel: 'host', id: CANARY_KEY } }],
  ['session.channel', { session: { channel: CANARY_KEY, id: 'default' } }],
])('a frame whose %s contains a key is refused', async (field, fields) => {
  const { tether } = await place()
  const sent = await tether.send('a', { ...message('m1'), ...fields })
  expect(sent).toMatchObject({ error: { kind: 'invalid_args', details: { field } } })
  expect(revealsKey(JSON.stringify(sent))).toBe(false)
  expect(value(await tether.poll('a', { after_seq: 0 })).frames).toEqual([])
})

test('no failure repeats a key', async () => {
  const { tether } = await place()
  const failures = [
    await tether.info(CANARY_KEY),
    await tether.act(CANARY_KEY, 'start'),
    await tether.map('a', `/nowhere/${CANARY_KEY}`),
    await tether.delete(CANARY_KEY),
    await tether.send(CANARY_KEY, message('m1')),
    await tether.poll(CANARY_KEY, {}),
    await tether.follow(CANARY_KEY, 0, {}, AbortSignal.abort()),
    await tether.image('a', CANARY_KEY),
    await tether.putImage(CANARY_KEY, { media_type: 'image/png', bytes: Buffer.alloc(1) }),
  ]
  expect(failures.map(({ ok }) => ok)).toEqual(failures.map(() => false))
  expect(revealsKey(JSON.stringify(failures))).toBe(false)
})
