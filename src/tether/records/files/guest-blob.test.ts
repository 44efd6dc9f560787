import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  BLOB_ATTACKS,
  blobScene,
  NAMED,
  NAMED_BYTES,
} from '../../../../test/support/resources/blob-attacks.ts'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { value } from '../../../../test/support/log/story.ts'
import { readGuestBlob } from './guest-blob.ts'

async function scene() {
  return blobScene(await freshFolder())
}

test('a blob that matches its reference is read [TI-029] [TI-050]', async () => {
  expect(value(await readGuestBlob(await scene(), NAMED))).toEqual(NAMED_BYTES)
})

test.each(BLOB_ATTACKS)('an image is refused with %s', async (_, attack) => {
  const place = await scene()
  const change = (await attack(place)) ?? {}
  const read = await readGuestBlob(place, { ...NAMED, ...change })
  expect(read).toMatchObject({ ok: false })
})

test('text under the key of its own hash is not an image', async () => {
  const place = await scene()
  const text = Buffer.from('the key of the host')
  const blob = `${createHash('sha256').update(text).digest('hex')}.png`
  await writeFile(join(place.blobs, blob), text)
  const read = await readGuestBlob(place, { media_type: 'image/png', blob, size: text.length })
  expect(read).toMatchObject({ ok: false, error: { kind: 'resource_missing' } })
})
