// What images change about frames and Instances: nothing but the references. Over the routes of the server.
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { sha256 } from '../../../src/encoding/hash.ts'
import { LIMITS } from '../../../src/model/limits.ts'
import type { Frame, ImageReference } from '../../../src/model/tether/frame.ts'
import { INSTANCE_ACTS } from '../../../src/tether/tether.ts'
import { openFakeTether, type FakeTether } from '../../support/tether/fake-tether.ts'
import { delta, done, userMessage } from '../../support/tether/frames.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { localServer, type ServedPlace } from '../../support/http/local-server.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { tetherHost, type TetherHost } from '../../support/tether/tether-host.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

/** All frames of an Instance, page by page. */
async function allFrames({ api }: Pick<ServedPlace, 'api'>, name: string): Promise<Frame[]> {
  const found: Frame[] = []
  for (;;) {
    const after = found.at(-1)?.seq ?? 0
    const path = `/v1/instances/${name}/tether/poll?after_seq=${after}&limit=200`
    const { frames } = (await api('GET', path)).body as { frames: readonly Frame[] }
    if (frames.length === 0) return found
    found.push(...frames)
  }
}

test('a thousand frames that name four images each stay in memory, below a megabyte [TI-102] [TI-009]', async () => {
  let tether: FakeTether | undefined
  const { api } = await localServer({
    openTether: async (home) => {
      const opened = await openFakeTether(home)
      if (opened.ok) tether = opened.value.tether
      return opened
    },
  })
  const frames = async () => allFrames({ api }, 'boat')
  await api('POST', '/v1/instances', { handle: 'boat' })
  const images = Array.from({ length: LIMITS.frame_images }, (_, at): ImageReference => {
    const blob = `${String(at).repeat(64)}.png`
    return { media_type: 'image/png', blob, size: LIMITS.turn_attachment_bytes / 4 }
  })
  const say = async (msg_id: string) => {
    const { payload, ...frame } = userMessage(msg_id)
    const sent = { ...frame, payload: { ...payload, images } }
    expect((await api('POST', '/v1/instances/boat/tether', sent)).status).toBe(202)
    const end = done(`${msg_id}-end`, msg_id)
    if (end.type === 'assistant.done')
      await tether?.says('boat', { ...end, payload: { ...end.payload, images } })
  }
  // Only memory has deltas: one that can be read shows that nothing after it was removed.
  await say('m0')
  await tether?.says('boat', delta('kept', 'm0'))
  for (let at = 1; at < 500; at += 1) await say(`m${at}`)
  const stored = await frames()
  expect(stored.some(({ type }) => type === 'assistant.delta')).toBe(true)
  expect(stored).toHaveLength(1_001)
  const bytes = stored.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0)
  expect(bytes).toBeLessThan(1_000_000)
  // The number of frames is what removes it.
  for (const name of ['last', 'very-last']) await say(name)
  expect((await frames()).some(({ type }) => type === 'assistant.delta')).toBe(false)
})

test.runIf(canNest)(
  'four images of 18 MiB together arrive with a frame that has at most 200 bytes more for each [TI-009] [TI-039] [TI-108]',
  async () => {
    const host = await tetherHost()
    const { workspace } = host
    await host.create('boat', { workspace })
    const images: ImageReference[] = []
    for (const at of [1, 2, 3, 4]) {
      const pixels = picture(at)
      const padding = Buffer.alloc(LIMITS.turn_attachment_bytes / 4 - pixels.length)
      images.push(await host.put('boat', Buffer.concat([pixels, padding])))
    }
    expect(images.reduce((sum, { size }) => sum + size, 0)).toBe(LIMITS.turn_attachment_bytes)
    await host.ask('boat', 'm1', 'What happened?')
    const end = await host.ask('boat', 'm2', 'What happened?', images)
    expect(end).toMatchObject({ type: 'assistant.done', payload: { status: 'completed' } })
    const sizes = (await allFrames(host, 'boat'))
      .filter(({ type }) => type === 'user.message')
      .map((frame) => Buffer.byteLength(JSON.stringify(frame)))
    expect((sizes[1] ?? 0) - (sizes[0] ?? 0)).toBeLessThanOrEqual(4 * 200)
  },
)

/** The fields of a value, without those of images, and without what differs between two runs. */
function shapeOf({ payload, ...frame }: Frame): string {
  const fields = Object.keys(payload).filter((name) => name !== 'images')
  return [frame.type, ...Object.keys(frame).toSorted(), ...fields.toSorted()].join(' ')
}

/** One whole life of an Instance: what each step answered, and the shapes of its frames. */
async function life(host: TetherHost, name: string, images: readonly ImageReference[] | undefined) {
  const { api, root } = host
  const workspace = join(root, name)
  await mkdir(workspace)
  const answers: unknown[] = []
  const at = `/v1/instances/${name}`
  const step = async (method: string, path: string, body?: unknown) => {
    const { status: code, body: answer } = await api(method, path, body)
    const { state, enabled, error, ...more } = answer as Readonly<Record<string, unknown>>
    const kind = (error as { kind?: string } | undefined)?.kind
    answers.push([method, path.replace(name, ':id'), code, state, enabled, kind, Object.keys(more)])
  }
  const withImages = (frame: object) => {
    const { payload, ...rest } = frame as { payload: object }
    return { ...rest, payload: images === undefined ? payload : { ...payload, images } }
  }
  const say = (msg_id: string, text: string) =>
    step('POST', `${at}/tether`, withImages(userMessage(msg_id, {}, text)))
  const control = (type: string, msg_id: string) =>
    step('POST', `${at}/tether`, { ...userMessage(msg_id), type, payload: {} })

  await step('POST', '/v1/instances', { handle: name, workspace })
  for (const bytes of [1, 2]) await host.put(name, picture(bytes))
  await step('POST', `${at}/start`)
  await control('control.ping', 'p1')
  await say('m1', 'What happened?')
  await host.answer(name, 'm1')
  await step('POST', `${at}/pause`)
  await step('GET', at)
  await step('POST', `${at}/resume`)
  await say('m2', 'Run `touch begun; until [ -e enough ]; do sleep 0.05; done`')
  await expect.poll(() => existsSync(join(workspace, 'begun')), { timeout: 60_000 }).toBe(true)
  await say('m3', 'What happened?')
  await control('control.cancel', 'c1')
  await host.answer(name, 'm2')
  await host.answer(name, 'm3')
  await step('POST', `${at}/stop`)
  // It wakes for a message.
  await say('m4', 'What happened?')
  await host.answer(name, 'm4')
  await step('POST', `${at}/disable`)
  await say('m5', 'What happened?')
  await step('POST', `${at}/enable`)
  const frames = await allFrames(host, name)
  await step('DELETE', at)
  await step('GET', at)
  const replies = ['m1', 'm2', 'm3', 'm4', 'p1', 'c1'].map((id) => [
    id,
    [...new Set(frames.filter((one) => one.in_reply_to === id).map(shapeOf))],
  ])
  return { answers, frames, replies }
}

test.runIf(canNest)(
  'an Instance lives, and its frames are the same, with images and without [TI-101] [TI-104] [TI-105] [TI-106] [TI-054]',
  async () => {
    const host = await tetherHost()
    const image = (at: number): ImageReference => {
      const bytes = picture(at)
      return { media_type: 'image/png', blob: `${sha256(bytes)}.png`, size: bytes.length }
    }
    const images = [image(1), image(2)]
    const plain = await life(host, 'plain', undefined)
    const shown = await life(host, 'shown', images)
    expect(shown.answers).toEqual(plain.answers)
    expect(shown.replies).toEqual(plain.replies)
    const used = plain.answers.map((one) => String((one as unknown[])[1]))
    for (const act of INSTANCE_ACTS) expect(used).toContain(`/v1/instances/:id/${act}`)
    const types = new Set(plain.frames.map(({ type }) => type))
    for (const type of ['event.ack', 'status.presence', 'status.pong', 'control.cancel'] as const)
      expect(types).toContain(type)
    // What the host sent is what it, and every other host, reads.
    const sent = (found: readonly Frame[]) =>
      found.flatMap((frame) => (frame.type === 'user.message' ? [frame] : []))
    const { payload, ...envelope } = userMessage('m1', {}, 'What happened?')
    const [first] = sent(plain.frames)
    expect(first).toEqual({ ...envelope, payload, seq: first?.seq })
    const [withImages] = sent(shown.frames)
    const expected = { ...envelope, payload: { ...payload, images }, seq: withImages?.seq }
    expect(withImages).toEqual(expected)
  },
)
