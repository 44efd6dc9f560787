import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { link, mkdir, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { drawing, png } from './drawing.ts'
import { makeRecords } from '../session/records.ts'

// Not from a module with the key of the tests: this is bundled into a file.
const { width, height, pixels } = drawing(3)
const bytes = png(width, height, pixels)
const sha = createHash('sha256').update(bytes).digest('hex')

/** An image that a guest names, and its bytes. */
export const NAMED = { media_type: 'image/png', blob: `${sha}.png`, size: bytes.length }
export const NAMED_BYTES: Buffer = bytes

/** A workspace with that image in the records of an Instance. */
export async function blobScene(workspace: string) {
  const instance = 'inst_1'
  const blobs = join(await makeRecords(workspace, instance), 'blobs')
  await mkdir(blobs, { recursive: true, mode: 0o700 })
  const file = join(blobs, NAMED.blob)
  await writeFile(file, bytes)
  return { workspace, instance, blobs, file }
}

/** Changes the store, or returns what else the reference says. */
export type BlobAttack = (place: Awaited<ReturnType<typeof blobScene>>) => Promise<object | void>

const secret = async (workspace: string, content: Buffer) => {
  const path = join(workspace, 'secret')
  await writeFile(path, content)
  return path
}

/** What a guest can do so that its image is not what it names. */
export const BLOB_ATTACKS: readonly (readonly [string, BlobAttack])[] = [
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
]
