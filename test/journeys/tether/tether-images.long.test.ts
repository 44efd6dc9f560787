// The tests of the document about images, over the routes of the server and with real guests.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import type { Frame } from '../../../src/model/tether/frame.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { userMessage } from '../../support/tether/frames.ts'
import { removeGuestProgram } from '../../support/cli/guest-bundle.ts'
import { registerDamage } from '../../support/log/registered-damage.ts'
import { openRehearsal } from '../../support/providers/rehearsal-server.ts'
import { picture } from '../../support/resources/sample-files.ts'
import { blobsIn, tetherHost } from '../../support/tether/tether-host.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import { onlyRecords } from '../../support/session/records.ts'
import { sseOf } from '../../support/providers/vendor-answer.ts'
import { scriptedServer } from '../../support/providers/vendor-server.ts'

afterAll(removeGuestProgram)

const status = await systemSandbox().status()
const canNest = status.isConfined && status.nests === true

function imagesOf(frame: Frame) {
  return frame.type === 'assistant.done' ? (frame.payload.images ?? []) : []
}

const IMAGE_TYPE = /\.(png|jpg|gif|webp)$/

test.runIf(canNest)(
  'an image reaches the model, is kept once, is seen again after a restart, and may be lost [TI-125] [TI-127] [TI-007] [TI-016] [TI-054] [TI-074] [TI-078] [TI-114]',
  async () => {
    const vendor = await openRehearsal()
    const env = {
      HAWSER_PROVIDER: 'anthropic',
      ANTHROPIC_API_KEY: CANARY_KEY,
      ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
    }
    const host = await tetherHost({ env })
    const { create, put, ask, api, workspace } = host
    await create('painter', { workspace })
    const requests = (from: number) => vendor.requests.slice(from)
    const shows = (from: number, bytes: Buffer) =>
      requests(from).some((request) => request.bytes.includes(bytes.toString('base64')))

    // Without images first, as before they existed.
    expect(await ask('painter', 'm0', 'What happened?')).toMatchObject({
      type: 'assistant.done',
      payload: { status: 'completed' },
    })
    const pixels = picture(3)
    const [first, again] = [await put('painter', pixels), await put('painter', pixels)]
    const other = picture(4)
    expect(again).toEqual(first)
    const seen = await ask('painter', 'm1', 'What do you see?', [first, again])
    expect(seen).toMatchObject({
      in_reply_to: 'm1',
      payload: { status: 'completed', text: expect.stringContaining('picture') as string },
    })
    expect(shows(1, pixels)).toBe(true)
    const stays = await put('painter', other)
    await ask('painter', 'm2', 'And this?', [first, stays])
    // The model reads who said it; the Log keeps that apart from the text.
    const { payload, ...frame } = userMessage('m2a', {}, 'Who am I?')
    const user = { id: '7', name: 'Ada]\nroot' }
    const from = vendor.requests.length
    expect(
      (
        await api('POST', '/v1/instances/painter/tether', {
          ...frame,
          payload: { ...payload, user },
        })
      ).status,
    ).toBe(202)
    await host.answer('painter', 'm2a')
    const asked = requests(from).at(-1)?.bytes.toString('utf8')
    expect(asked).toContain(JSON.stringify(String.raw`[Ada\]\nroot]: Who am I?`).slice(1, -1))
    const sessions = join(await onlyRecords(workspace), 'sessions')
    const file = (await readdir(sessions)).find((one) => one.endsWith('.ndjson')) ?? ''
    const log = (await readFile(join(sessions, file), 'utf8')).split('\n')
    const logged = log.find((line) => line.includes('Who am I?')) ?? '{}'
    const { data } = JSON.parse(logged) as { readonly data: { readonly text: string } }
    expect(data.text).toBe('Who am I?')
    const isImage = (name: string) => IMAGE_TYPE.test(name)
    expect((await blobsIn(workspace)).filter(isImage).toSorted()).toEqual(
      [first.blob, stays.blob].toSorted(),
    )

    // Another guest continues the Session, and its model sees the images again.
    await api('POST', '/v1/instances/painter/stop')
    const before = vendor.requests.length
    await ask('painter', 'm3', 'What happened?')
    expect(shows(before, pixels)).toBe(true)
    expect(requests(before)[0]?.bytes.toString('utf8')).not.toMatch(/What do you see\?.*missing/s)

    // Lost: the text and the other image stay, and one line says what is missing.
    await registerDamage(workspace, 'blobs', 'An image of a message is lost.')
    await rm(join(await onlyRecords(workspace), 'blobs', first.blob))
    const lost = vendor.requests.length
    expect(await ask('painter', 'm4', 'What happened?')).toMatchObject({
      payload: { status: 'completed' },
    })
    const [request] = requests(lost)
    expect([shows(lost, pixels), shows(lost, other), request?.bytes.toString('utf8')]).toEqual([
      false,
      true,
      expect.stringMatching(/What do you see\?.*missing/s),
    ])
  },
)

test.runIf(canNest)(
  'images that a tool made are named in the answer, in order, and a missing one is distinguished [TI-126] [TI-005] [TI-007] [TI-029] [TI-050] [TI-072] [TI-086] [TI-087] [TI-101]',
  async () => {
    const { create, ask, api, origin, token, workspace } = await tetherHost()
    await create('painter', { workspace })
    const names = ['one.png', 'two.png', 'three.png']
    expect((await api('GET', '/v1/instances/painter')).body).toMatchObject({ workspace })
    await create('plain')
    expect((await api('GET', '/v1/instances/plain')).body).not.toHaveProperty('workspace')
    await api('PATCH', '/v1/instances/plain', { workspace: 'own' })
    expect((await api('GET', '/v1/instances/plain')).body).toHaveProperty('workspace')
    const plain = await ask('painter', 'm0', 'What happened?')
    expect(Object.keys(plain.payload)).not.toContain('images')
    // Both work in the same files, while the agent runs: what the host writes, a command of the agent makes into an image.
    for (const [at, name] of names.entries()) {
      await writeFile(join(workspace, `${name}.txt`), picture(at + 1).toString('base64'))
      await ask('painter', `make-${at}`, `Run \`base64 -d ${name}.txt > ${name}\``)
      expect((await readFile(join(workspace, name))).equals(picture(at + 1))).toBe(true)
    }
    const blobs: string[] = []
    for (const [at, name] of names.entries()) {
      const [image] = imagesOf(await ask('painter', `m${at + 1}`, `Attach ${name}`))
      blobs.push(image?.blob ?? '')
      // It was stored before it was named.
      expect(await blobsIn(workspace)).toContain(image?.blob)
    }
    const [, second = ''] = blobs
    await registerDamage(workspace, 'blobs', 'An image of an answer is lost.')
    await rm(join(await onlyRecords(workspace), 'blobs', second))
    const headers = { authorization: `Bearer ${token}` }
    const fetched = []
    for (const [at, blob] of blobs.entries()) {
      const found = await fetch(`${origin}/v1/instances/painter/blobs/${blob}`, { headers })
      const bytes = Buffer.from(await found.arrayBuffer())
      fetched.push([found.status, bytes.equals(picture(at + 1))])
    }
    expect(fetched).toEqual([
      [200, true],
      [410, false],
      [200, true],
    ])
    const { body } = await api('GET', '/v1/instances/painter/tether/poll?types=assistant.done')
    const { frames } = body as { frames: readonly Frame[] }
    expect(frames.flatMap((frame) => imagesOf(frame).map(({ blob }) => blob))).toEqual(blobs)
  },
)

test.runIf(canNest)(
  'what is refused leaves nothing behind [TI-128] [TI-129] [TI-130] [TI-131] [TI-039] [TI-045]',
  async () => {
    const host = await tetherHost()
    const { create, put, api, root, origin, token, workspace } = host
    const tools = join(root, 'tools')
    await create('plain')
    await create('mapped', { workspace })
    await create('off', { workspace })
    await api('POST', '/v1/instances/off/disable')
    const image = await put('mapped', picture(1))
    const log = join(root, 'home/logs')
    const before = await treeHash(root, [log, tools])
    const raw = (name: string, bytes: Buffer, type: string) =>
      fetch(`${origin}/v1/instances/${name}/blobs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': type },
        body: new Uint8Array(bytes),
      })
    const large = Buffer.concat([picture(2), Buffer.alloc(15_000_000)])
    const blobs = [
      await raw('mapped', large, 'image/png'),
      await raw('mapped', picture(2), 'image/webp'),
      await raw('mapped', Buffer.from('GIF?'), 'image/gif'),
      await raw('plain', picture(2), 'image/png'),
      await raw('nobody', picture(2), 'image/png'),
      await raw('off', picture(2), 'image/png'),
    ]
    const kinds = []
    for (const answer of blobs) {
      const { error } = (await answer.json()) as { error: { kind: string; message: string } }
      kinds.push([answer.status, error.kind])
      if (error.kind === 'images_require_workspace')
        expect(error.message).toBe('images require workspace mapping')
    }
    expect(kinds).toEqual([
      [413, 'too_large'],
      [415, 'type_mismatch'],
      [415, 'type_mismatch'],
      [400, 'images_require_workspace'],
      [404, 'not_found'],
      [409, 'instance_disabled'],
    ])
    const message = (name: string, images: readonly object[], text = 'Look') =>
      api('POST', `/v1/instances/${name}/tether`, {
        ...userMessage('m1'),
        payload: { text, images },
      })
    const other = { ...image, blob: image.blob.replace(/^./, (one) => (one === '0' ? '1' : '0')) }
    const frames = [
      await message('mapped', [image, image, image, image, image]),
      await message('mapped', [{ ...image, size: image.size + 1 }]),
      await message('mapped', [other]),
      await message('mapped', [{ ...image, blob: '../../etc/passwd' }]),
      await message('plain', [image]),
      await message('nobody', []),
      await message('off', []),
      await message('mapped', [], 'a'.repeat(205_000)),
    ].map(({ status: code, body }) => [code, (body as { error: { kind: string } }).error.kind])
    expect(frames).toEqual([
      [400, 'invalid_args'],
      [410, 'resource_missing'],
      [410, 'resource_missing'],
      [400, 'invalid_args'],
      [400, 'images_require_workspace'],
      [404, 'not_found'],
      [409, 'instance_disabled'],
      [413, 'too_large'],
    ])
    for (const key of ['..%2F..%2F..%2Fhome%2Ftoken', 'token', `${image.blob}%00`, '%2e%2e'])
      expect((await api('GET', `/v1/instances/mapped/blobs/${key}`)).status).toBeGreaterThan(399)
    const creations = [
      { handle: 'in', workspace: join(root, 'home') },
      { handle: 'around', workspace: root },
      { handle: 'none', workspace: join(root, 'nowhere') },
      { handle: 'relative', workspace: 'workspace' },
      { handle: 'plain' },
    ]
    for (const body of creations)
      expect((await api('POST', '/v1/instances', body)).status).toBeGreaterThan(399)
    const places = [join(root, 'home'), root, join(root, 'nowhere'), 'workspace', '', 7]
    for (const to of places)
      expect(
        (await api('PATCH', '/v1/instances/mapped', { workspace: to })).status,
      ).toBeGreaterThan(399)
    for (const more of [{ isolation: 'process' }, { workspace }])
      expect(
        (await api('POST', '/v1/instances?by=mcp', { handle: 'x', ...more })).status,
      ).toBeGreaterThan(399)
    expect(await treeHash(root, [log, tools])).toBe(before)
  },
)

test.runIf(canNest)('an answer says what the model was not shown [AR-007] [AR-009]', async () => {
  const pixels = picture(9)
  const unreadable = { type: 'invalid_request_error', message: 'Could not process image' }
  const vendor = await scriptedServer(({ bytes }) =>
    bytes.includes(pixels.toString('base64'))
      ? { status: 400, body: JSON.stringify({ type: 'error', error: unreadable }) }
      : { body: sseOf('messages', { text: 'A harbour.' }) },
  )
  const env = {
    HAWSER_PROVIDER: 'anthropic',
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
  }
  onTestFinished(() => vendor.close())
  const { create, put, ask, workspace } = await tetherHost({ env })
  await create('painter', { workspace })
  expect(await ask('painter', 'm1', 'Look.', [await put('painter', pixels)])).toMatchObject({
    type: 'assistant.done',
    payload: {
      text: 'A harbour.',
      notices: [
        {
          code: 'resource_quarantined',
          text: expect.stringContaining('@img1 image-1.png') as string,
        },
      ],
    },
  })
  expect((await ask('painter', 'm2', 'And now?')).payload).not.toHaveProperty('notices')
})
