import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envelope } from '../../test/support/tether/host-end.ts'
import { guests, instancesPlace, makeWorkspace } from '../../test/support/tether/instances-place.ts'
import { picture } from '../../test/support/resources/sample-files.ts'
import { value } from '../../test/support/log/story.ts'
import { deliver } from './deliver.ts'
import type { StoredImage } from './tether.ts'
import { onlyRecords } from '../../test/support/session/records.ts'

const png = (bytes: Buffer): StoredImage => ({ media_type: 'image/png', bytes })
const small = png(picture(3))
const large = (mib: number) => png(Buffer.concat([picture(3), Buffer.alloc(mib * 1024 * 1024)]))
const { session } = envelope('m1', 'default')
const message = { ts: envelope('m1', '').ts, session, msg_id: 'm1', payload: { text: 'Look.' } }

test('a message with images is delivered with references to them', async () => {
  const { instances, root, runtime } = await instancesPlace()
  const workspace = await makeWorkspace(root)
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  value(await deliver(instances, 'a', { ...message, images: [small, small] }))
  await guests(runtime, 1)
  const [received] = runtime.guest.received
  const blobs = await readdir(join(await onlyRecords(workspace), 'blobs'))
  const blob = blobs.find((name) => name.endsWith('g'))
  expect(received?.payload).toEqual({
    text: 'Look.',
    images: Array.from({ length: 2 }, () => ({
      media_type: 'image/png',
      blob,
      size: small.bytes.length,
    })),
  })
})

test.each<[string, string, readonly StoredImage[]]>([
  ['five images', 'too_large', [small, small, small, small, small]],
  ['a last image over 10 MiB', 'too_large', [small, large(10)]],
  ['images over 18 MiB together', 'too_large', [large(9), large(9)]],
  ['a last image of another type', 'type_mismatch', [small, png(Buffer.from('GIF89a'))]],
])('a message with %s is refused, and nothing is written', async (_, kind, images) => {
  const { instances, root, runtime } = await instancesPlace()
  const workspace = await makeWorkspace(root)
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  expect(await deliver(instances, 'a', { ...message, images })).toMatchObject({ error: { kind } })
  expect(await readdir(workspace)).toEqual([])
  expect(runtime.orders).toEqual([])
})

test.each([
  ['over 200 KiB', 'é'.repeat(102_401)],
  ['too long when escaped', '\u0001'.repeat(60_000)],
])('a message with an image and a text %s is refused, and nothing is written', async (_, text) => {
  const { instances, root } = await instancesPlace()
  const workspace = await makeWorkspace(root)
  value(await instances.create({ handle: 'a', workspace }, 'operator'))
  const long = { ...message, payload: { text }, images: [small] }
  expect(await deliver(instances, 'a', long)).toMatchObject({ error: { kind: 'too_large' } })
  expect(await readdir(workspace)).toEqual([])
})

test('a message with an image to a disabled Instance or one without a workspace is refused', async () => {
  const { instances, root } = await instancesPlace()
  const workspace = await makeWorkspace(root)
  value(await instances.create({ handle: 'a', workspace, enabled: false }, 'operator'))
  value(await instances.create({ handle: 'b' }, 'operator'))
  expect(await deliver(instances, 'a', { ...message, images: [small] })).toMatchObject({
    error: { kind: 'instance_disabled' },
  })
  expect(await deliver(instances, 'b', { ...message, images: [small] })).toMatchObject({
    error: { kind: 'images_require_workspace', message: 'images require workspace mapping' },
  })
  expect(await readdir(workspace)).toEqual([])
})
