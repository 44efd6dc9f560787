import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { link, mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/folder.ts'
import { picture } from '../../../test/support/sample-files.ts'
import { value } from '../../../test/support/story.ts'
import { readGuestBlob } from './guest-blob.ts'

const bytes = picture(3)
const sha = createHash('sha256').update(bytes).digest('hex')
const named = { media_type: 'image/png', blob: `${sha}.png`, size: bytes.length }

async function scene() {
  const workspace = await freshFolder()
  const blobs = join(workspace, '.hawser/blobs')
  await mkdir(blobs, { recursive: true, mode: 0o700 })
  const file = join(blobs, named.blob)
  await writeFile(file, bytes)
  return { workspace, blobs, file }
}

test('a blob that matches its reference is read [TI-029] [TI-050]', async () => {
  const { workspace } = await scene()
  expect(value(await readGuestBlob(workspace, named))).toEqual(bytes)
})

type Attack = (place: Awaited<ReturnType<typeof scene>>) => Promise<object | void>

const secret = async (workspace: string, content: Buffer) => {
  const path = join(workspace, 'secret')
  await writeFile(path, content)
  return path
}

test.each<[string, Attack]>([
  [
    'a link to the same bytes elsewhere',
    async ({ workspace, file }) => {
      await rename(file, join(workspace, 'moved.png'))
      await symlink(join(workspace, 'moved.png'), file)
    },
  ],
  [
    'a link to another file',
    async ({ workspace, file }) => {
      await rename(file, `${file}.old`)
      await symlink(await secret(workspace, Buffer.from('key')), file)
    },
  ],
  [
    'a folder of blobs that is a link',
    async ({ workspace, blobs }) => {
      await rename(blobs, join(workspace, 'elsewhere'))
      await symlink(join(workspace, 'elsewhere'), blobs)
    },
  ],
  [
    'a .hawser that is a link',
    async ({ workspace }) => {
      await rename(join(workspace, '.hawser'), join(workspace, 'elsewhere'))
      await symlink(join(workspace, 'elsewhere'), join(workspace, '.hawser'))
    },
  ],
  ['a second hard link', ({ workspace, file }) => link(file, join(workspace, 'again.png'))],
  ['truncated bytes', ({ file }) => truncate(file, bytes.length - 1)],
  ['other bytes of the same size', ({ file }) => writeFile(file, Buffer.alloc(bytes.length, 7))],
  ['an empty file', ({ file }) => truncate(file, 0)],
  ['a sparse file of 100 GB', ({ file }) => truncate(file, 100e9)],
  [
    'a pipe',
    async ({ file }) => {
      await rename(file, `${file}.old`)
      await promisify(execFile)('mkfifo', [file])
    },
  ],
  [
    'a folder',
    async ({ file }) => {
      await rename(file, `${file}.old`)
      await mkdir(file)
    },
  ],
  ['nothing', ({ file }) => rename(file, `${file}.old`)],
  ['another size in the reference', async () => ({ size: bytes.length + 1 })],
  ['a size over 10 MiB', async () => ({ size: 11 * 1024 * 1024 })],
  ['another type in the reference', async () => ({ media_type: 'image/gif' })],
  ['a key that climbs out', async () => ({ blob: `../../secret/${sha}.png` })],
  ['a key in capitals', async () => ({ blob: `${sha.toUpperCase()}.png` })],
  ['a key with a second line', async () => ({ blob: `${sha}.png\n../x` })],
  ['a reference with bytes', async () => ({ data: 'AAAA' })],
])('an image is refused with %s', async (_, attack) => {
  const place = await scene()
  const change = (await attack(place)) ?? {}
  const read = await readGuestBlob(place.workspace, { ...named, ...change })
  expect(read).toMatchObject({ ok: false })
})

test('text under the key of its own hash is not an image', async () => {
  const { workspace, blobs } = await scene()
  const text = Buffer.from('the key of the host')
  const blob = `${createHash('sha256').update(text).digest('hex')}.png`
  await writeFile(join(blobs, blob), text)
  const read = await readGuestBlob(workspace, { media_type: 'image/png', blob, size: text.length })
  expect(read).toMatchObject({ ok: false, error: { kind: 'resource_missing' } })
})
