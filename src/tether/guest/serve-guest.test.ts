import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import {
  blobText,
  eventsOf,
  guestScene,
  putImage,
} from '../../../test/support/tether/guest-scene.ts'
import { gatedModel } from '../../../test/support/session/gated-model.ts'
import { envelope } from '../../../test/support/tether/host-end.ts'
import { picture } from '../../../test/support/resources/sample-files.ts'
import { copied, stepsOf } from '../../../test/support/tether/stopped-place.ts'
import { talking } from '../../../test/support/session/talking-provider.ts'
import { ok } from '../../model/errors.ts'

const types = (frames: readonly { type: string }[]) => [...new Set(frames.map(({ type }) => type))]

test('a message is acknowledged, answered piece by piece, and ends once [TI-054] [TI-087]', async () => {
  const { host, root } = await guestScene()
  const end = await host.say('m1', { text: 'What happened?', user: { id: '7', name: 'Ada' } })
  expect(end).toMatchObject({ type: 'assistant.done', in_reply_to: 'm1' })
  expect(Object.keys(end.payload)).toEqual(['text', 'status'])
  const replies = host.replies('m1')
  expect(types(replies)).toEqual([
    'event.ack',
    'status.presence',
    'assistant.delta',
    'assistant.done',
  ])
  const deltas = replies.flatMap((f) => (f.type === 'assistant.delta' ? [f.payload.text] : []))
  // The model also wrote before its call.
  const { text: answer = '' } = end.type === 'assistant.done' ? end.payload : {}
  expect([answer === '', deltas.join('').endsWith(answer)]).toEqual([false, true])
  const turns = new Set(replies.flatMap(({ turn_id = [] }) => turn_id))
  expect(turns.size).toBe(1)
  const [events = []] = (await eventsOf(root)).values()
  const started = events.find((e) => e.type === 'turn_started')
  const { text } = events.find((e) => e.type === 'user_message')?.data ?? {}
  // The Log keeps the text and its sender apart.
  expect([started?.data.source, text]).toEqual([
    { presenter: 'tether', channel: 'host', user: { id: '7', name: 'Ada' }, message_key: 'm1' },
    'What happened?',
  ])
})

test('each conversation has its Session, which the next guest continues', async () => {
  const first = await guestScene()
  await first.host.say('a1', { text: 'What happened?' }, 'a_b:c')
  await first.host.say('b1', { text: 'What happened?' }, 'a/../b')
  first.stop()
  await first.served
  const { host, root } = await guestScene({ root: first.root })
  await host.say('a2', { text: 'Hello again' }, 'a_b:c')
  const other = await guestScene({ root, start: { instance: 'inst_2' } })
  await other.host.say('c1', { text: 'What happened?' }, 'a_b:c')
  const found = [...(await eventsOf(root))].map(([key, events]) => [
    key,
    events.flatMap((e) => (e.type === 'turn_started' ? [e.data.source.message_key] : [])),
  ])
  expect(new Map(found.map(([key, keys]) => [String(key), keys]))).toEqual(
    new Map([
      ['inst_1 host:a_b:c', ['a1', 'a2']],
      ['inst_1 host:a/../b', ['b1']],
      ['inst_2 host:a_b:c', ['c1']],
    ]),
  )
})

test('an image by reference is shown, and again in the next request, also to the next guest [TI-007] [TI-016] [TI-052] [TI-073]', async () => {
  const first = await guestScene()
  const image = await putImage(first.root, picture(3))
  const end = await first.host.say('m1', { text: 'What do you see?', images: [image] })
  expect(end.type === 'assistant.done' && end.payload.text).toContain('PNG picture')
  first.stop()
  await first.served
  const { host, root } = await guestScene({ root: first.root })
  await host.say('m2', { text: 'What happened?' })
  const [events = []] = (await eventsOf(root)).values()
  const projected = events.flatMap((e) =>
    e.type === 'provider_request'
      ? [e.data.projected?.map(({ content_sha256 }) => content_sha256)]
      : [],
  )
  const sha = image.blob.slice(0, 64)
  expect(projected).toEqual([[sha], [sha]])
})

test('a missing blob leaves the text and a line that says so; a message of missing blobs alone is refused [TI-050] [TI-074]', async () => {
  const { host, root, sent } = await guestScene()
  const gone = { media_type: 'image/png', blob: `${'a'.repeat(64)}.png`, size: 9 } as const
  const there = await putImage(root, picture(3))
  const wrong = { ...there, size: there.size + 1 }
  const end = await host.say('m1', { text: 'What happened?', images: [gone, there, wrong] })
  expect(end).toMatchObject({ type: 'assistant.done', payload: { status: 'completed' } })
  const [events = []] = (await eventsOf(root)).values()
  const { resources = [], attachment_errors = [] } =
    events.find((e) => e.type === 'user_message')?.data ?? {}
  expect(resources.map(({ name }) => name)).toEqual(['image-2.png'])
  expect(attachment_errors.map(({ code, name }) => [name, code])).toEqual([
    ['image-1.png', 'not_found'],
    ['image-3.png', 'corrupt'],
  ])
  expect(sent[0]).toContain('What happened?')
  expect(sent[0]).toMatch(/image-1\.png[^"]*image-3\.png/)
  const refused = await host.say('m2', { text: '', images: [gone] })
  expect(refused).toMatchObject({ type: 'error', payload: { kind: 'attachments_failed' } })
  // Delivered again, it ends in the same way.
  host.message('m2', { text: '', images: [gone] })
  await host.until(() => host.ends('m2').length === 2)
  expect(host.ends('m2')[1]?.payload).toEqual(refused.payload)
})

test('without a mapped workspace, images are refused in both directions [TI-045]', async () => {
  const { host, root, workspace } = await guestScene({ start: { images: false } })
  const image = await putImage(root, picture(3))
  const end = await host.say('m1', { text: 'Look', images: [image] })
  expect(end.payload).toMatchObject({
    kind: 'images_require_workspace',
    message: 'images require workspace mapping',
  })
  await writeFile(join(workspace, 'chart.png'), picture(4))
  const answer = await host.say('m2', { text: 'Attach chart.png to your answer.' })
  expect(answer.payload).not.toHaveProperty('images')
})

test('images that the guest attaches leave by reference [TI-005] [TI-049] [TI-086]', async () => {
  const { host, workspace, root } = await guestScene()
  await writeFile(join(workspace, 'chart.png'), picture(4))
  await writeFile(join(workspace, 'notes.txt'), 'words')
  const { blob } = await putImage(root, picture(4))
  const end = await host.say('m1', { text: 'Attach chart.png to your answer.' })
  expect(end.payload).toMatchObject({
    images: [{ media_type: 'image/png', blob, size: picture(4).length }],
    status: 'completed',
  })
  const text = await host.say('m2', { text: 'Attach notes.txt to your answer.' })
  expect(text.payload).not.toHaveProperty('images')
  const [events = []] = (await eventsOf(root)).values()
  const results = events.flatMap((e) => (e.type === 'tool_result' ? [e.data.outcome] : []))
  expect(results).toEqual(['ok', 'failed'])
})

test('a repeated message runs once, and ends in the same way while and after it runs', async () => {
  const { host, root } = await guestScene()
  host.message('m1', { text: 'Write "calm" to once.txt.' })
  host.message('m1', { text: 'Write "calm" to once.txt.' })
  const first = await host.ended('m1')
  host.message('m1', { text: 'Write "calm" to once.txt.' })
  await host.until(() => host.ends('m1').length === 2)
  expect(host.ends('m1')[1]?.payload).toEqual(first.payload)
  const [events = []] = (await eventsOf(root)).values()
  expect(events.filter(({ type }) => type === 'turn_started')).toHaveLength(1)
})

test('a cancelled message ends as interrupted, and the waiting one runs', async () => {
  const { provider, open } = gatedModel()
  const { host } = await guestScene({
    changes: { model: { providerOf: async () => ok(provider) } },
  })
  host.message('m1', { text: 'What happened?' })
  host.message('m2', { text: 'What happened?' })
  host.cancel('c1')
  expect((await host.ended('m1')).payload).toMatchObject({ status: 'interrupted' })
  open()
  expect((await host.ended('m2')).payload).toMatchObject({ status: 'completed' })
})

test('a waiting message is cancelled by its name, and a message that does not exist is not', async () => {
  const { provider, open } = gatedModel()
  const { host } = await guestScene({
    changes: { model: { providerOf: async () => ok(provider) } },
  })
  host.message('m1', { text: 'What happened?' })
  host.message('m2', { text: 'What happened?' })
  host.cancel('c1', 'm2')
  host.cancel('c2', 'm3')
  host.ping('p1')
  await host.until(() => host.replies('p1').length > 0)
  open()
  expect((await host.ended('m1')).payload).toMatchObject({ status: 'completed' })
  expect((await host.ended('m2')).payload).toMatchObject({ status: 'interrupted' })
})

test('a message that the queue has no room for ends with an error that can be retried', async () => {
  const { provider, open } = gatedModel()
  const { host } = await guestScene({
    changes: {
      model: { providerOf: async () => ok(provider) },
      person: { limits: { waiting_turns: 1, question_ms: 0 } },
    },
  })
  for (const id of ['m1', 'm2', 'm3']) host.message(id, { text: 'What happened?' })
  expect((await host.ended('m3')).payload).toMatchObject({ kind: 'backpressure', retryable: true })
  open()
  expect((await host.ended('m2')).payload).toMatchObject({ status: 'completed' })
})

test('when the guest is stopped, a running message ends and a waiting one is left for the next guest', async () => {
  const { provider, open } = gatedModel()
  const first = await guestScene({ changes: { model: { providerOf: async () => ok(provider) } } })
  first.host.message('m1', { text: 'What happened?' })
  first.host.message('m2', { text: 'What happened?' })
  await first.host.until(() => types(first.host.replies('m1')).includes('status.presence'))
  first.stop()
  open()
  expect(await first.served).toEqual(ok(undefined))
  await first.host.closed
  expect(first.host.ends('m1').map(({ payload }) => payload)).toMatchObject([
    { status: 'interrupted' },
  ])
  expect(first.host.ends('m2')).toEqual([])
  const { host } = await guestScene({ root: first.root })
  expect((await host.say('m1', { text: 'What happened?' })).payload).toMatchObject({
    status: 'interrupted',
  })
  expect((await host.say('m2', { text: 'What happened?' })).payload).toMatchObject({
    status: 'completed',
  })
})

test('a call that would ask a person is denied, and the model is informed', async () => {
  const { host, root } = await guestScene({ start: { permission_mode: 'ask' } })
  await host.say('m1', { text: 'Write "calm" to once.txt.' })
  const [events = []] = (await eventsOf(root)).values()
  const decided = events.flatMap((e) => (e.type === 'permission_decision' ? [e.data.by] : []))
  const results = events.flatMap((e) => (e.type === 'tool_result' ? [e.data.outcome] : []))
  expect([decided, results]).toEqual([['nobody'], ['denied']])
})

test('an answer over 200 KiB is cut, and its whole text is a blob', async () => {
  const long = 'rope '.repeat(60_000)
  const { host, root } = await guestScene({ changes: talking('rope '.repeat(1_000), 60) })
  const end = await host.say('m1', { text: 'What happened?' })
  if (end.type !== 'assistant.done') throw new Error(JSON.stringify(end.payload))
  const { text, truncated, text_blob = '' } = end.payload
  expect([text.length, truncated]).toEqual([200 * 1024, true])
  expect(await blobText(root, text_blob)).toBe(long)
})

test('a pause is reported, a ping is answered, and a line that is not for a guest ends it', async () => {
  const { host, resumed, served } = await guestScene()
  host.write({ type: 'guest.resumed', paused_ms: 7 })
  host.ping('p1')
  await host.until(() => host.replies('p1').length > 0)
  expect([resumed, types(host.replies('p1'))]).toEqual([[7], ['status.pong']])
  host.write({ type: 'guest.ready' })
  expect(await served).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
})

test('when the server goes away, the guest ends', async () => {
  const { host, served, defects } = await guestScene({ root: await freshFolder() })
  await host.end()
  expect(await served).toEqual(ok(undefined))
  expect(defects).toEqual([])
})

test('the fifth image of an answer is refused to the model, and four leave', async () => {
  const { provider: base } = gatedModel()
  let asked = 0
  const attaching: typeof base = {
    ...base,
    stream: async function* () {
      const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
      asked += 1
      const paths = asked === 1 ? [1, 2, 3, 4, 5] : []
      for (const at of paths) {
        const text = JSON.stringify({ path: `${at}.png` })
        const item = {
          kind: 'tool_call',
          call_id: `c${at}`,
          name: 'attach',
          arguments: text,
        } as const
        yield { type: 'item', item }
      }
      if (asked === 2) yield { type: 'item', item: { kind: 'text', text: 'Here they are.' } }
      yield { type: 'done', stop_reason: 'end_turn', usage }
    },
  }
  const { host, workspace, root } = await guestScene({
    changes: { model: { providerOf: async () => ok(attaching) } },
  })
  for (let at = 1; at <= 5; at += 1) await writeFile(join(workspace, `${at}.png`), picture(at))
  const end = await host.say('m1', { text: 'Draw' })
  expect(end.type === 'assistant.done' && end.payload.images?.length).toBe(4)
  const [events = []] = (await eventsOf(root)).values()
  const results = events.flatMap((e) => (e.type === 'tool_result' ? [e.data] : []))
  expect(results.map(({ outcome }) => outcome).toSorted()).toEqual([
    'failed',
    'ok',
    'ok',
    'ok',
    'ok',
  ])
  expect(results.find(({ outcome }) => outcome === 'failed')?.output).toContain(
    'your answer already has 4 images',
  )
})

/** A guest that is killed while its model is silent: the folder that it leaves. */
async function killedGuest() {
  const silent = gatedModel()
  const { host, root } = await guestScene({
    changes: { model: { providerOf: async () => ok(silent.provider) } },
  })
  host.message('m1', { text: 'What is a hull?' })
  await silent.asked
  const left = await copied(root)
  silent.open()
  return left
}

const RESEND = { ...envelope('m1', 'default'), type: 'guest.resend' } as const

const stepsIn = async (root: string) => stepsOf([...(await eventsOf(root)).values()].flat())

test('a message that the server vouches for continues in the next guest, in the same Turn', async () => {
  const { host, root } = await guestScene({ root: await killedGuest() })
  host.write(RESEND)
  const end = await host.say('m1', { text: 'What is a hull?' })
  expect(end.payload).toMatchObject({ status: 'completed' })
  const acks = host.replies('m1').flatMap((f) => (f.type === 'event.ack' ? [f.payload.status] : []))
  expect(acks).toEqual(['received', 'continued'])
  const steps = await stepsIn(root)
  expect(steps.filter((step) => /^(turn_|request 0|resent)/.test(step))).toEqual([
    'turn_started',
    'request 0.0',
    'resent_after_crash',
    'request 0.1',
    'turn_ended',
  ])
  expect(await host.say('m1', { text: 'What is a hull?' })).toMatchObject({ payload: end.payload })
})

test.each([
  ['that the server does not vouch for', undefined],
  ['when the server vouched for another message', { ...RESEND, msg_id: 'm2' }],
])('a message %s ends, and its answer tells what is unknown', async (_, line) => {
  const { host, sent } = await guestScene({ root: await killedGuest() })
  if (line !== undefined) host.write(line)
  const end = await host.say('m1', { text: 'What is a hull?' })
  expect(end.payload).toEqual({
    status: 'interrupted',
    text: '[This Turn was cut off by a crash and is not run again. Unknown: what else the model answered, and whether it was charged.]',
  })
  expect(sent).toEqual([])
})

test('a message that is cancelled before it continues is not sent again', async () => {
  const { host, sent } = await guestScene({ root: await killedGuest() })
  host.write(RESEND)
  host.message('m1', { text: 'What is a hull?' })
  host.cancel('c1', 'm1')
  expect((await host.ended('m1')).payload).toMatchObject({ status: 'interrupted' })
  expect(sent).toEqual([])
})

test('a Turn does not continue with settings that the operator has changed since', async () => {
  const start = { permission_mode: 'read-only' } as const
  const { host, sent } = await guestScene({ root: await killedGuest(), start })
  host.write(RESEND)
  const end = await host.say('m1', { text: 'What is a hull?' })
  expect(end.payload).toMatchObject({ status: 'interrupted' })
  expect(sent).toEqual([])
})

test('when the server goes away, a message without an answer is left to the next guest', async () => {
  const silent = gatedModel()
  const first = await guestScene({
    changes: { model: { providerOf: async () => ok(silent.provider) } },
  })
  first.host.message('m1', { text: 'What is a hull?' })
  await silent.asked
  await first.host.end()
  await first.served
  expect(first.host.ends('m1')).toEqual([])
  const { host } = await guestScene({ root: first.root })
  host.write(RESEND)
  const end = await host.say('m1', { text: 'What is a hull?' })
  expect(end.payload).toMatchObject({ status: 'completed' })
})
