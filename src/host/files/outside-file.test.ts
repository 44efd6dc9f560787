import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  link,
  mkdir,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/folder.ts'
import { meddledFiles } from '../../../test/support/meddled-files.ts'
import { outsideFiles, withOutsideFile } from './outside-file.ts'

const never = new AbortController().signal

function read(path: string, files = outsideFiles, into = Buffer.alloc(100), signal = never) {
  return withOutsideFile(files, path, (file) => file.read(into, signal))
}

async function fileOf(text: string): Promise<string> {
  const path = join(await freshFolder(), 'file')
  await writeFile(path, text)
  return path
}

test('a file is read whole into the memory that was made ready for it', async () => {
  const path = await fileOf('hello')
  const into = Buffer.alloc(100)
  const found = await read(path, outsideFiles, into)
  expect(found).toEqual({ ok: true, value: Buffer.from('hello') })
  expect(into.toString('latin1', 0, 5)).toBe('hello')
})

test('a second name of a file and links on the way to it do not matter', async () => {
  const path = await fileOf('hello')
  await link(path, `${path}-2`)
  await symlink('.', `${path}-way`)
  expect(await read(join(`${path}-way`, 'file-2'))).toMatchObject({ ok: true })
})

test.each([
  ['symlink', (path: string) => symlink('/etc/passwd', path), { code: 'ELOOP' }],
  ['folder', (path: string) => mkdir(path), { found: 'folder' }],
  ['pipe', async (path: string) => void execFileSync('mkfifo', [path]), { found: 'pipe' }],
  ['socket', socketAt, { code: 'ENXIO' }],
])('a %s is no file, and is told at once', async (_, make, details) => {
  const path = join(await freshFolder(), 'file')
  await make(path)
  expect(await read(path)).toMatchObject({ error: { kind: 'not_regular_file', details } })
})

test.runIf(process.getuid?.() === 0)(
  'a device is no file, and nothing is read from it',
  async () => {
    const path = join(await freshFolder(), 'file')
    execFileSync('mknod', [path, 'c', '1', '5'])
    expect(await read(path)).toMatchObject({
      error: { kind: 'not_regular_file', details: { found: 'device' } },
    })
  },
)

test('what is not there is not found', async () => {
  const path = await fileOf('hello')
  expect(await read(`${path}-no`)).toMatchObject({ error: { kind: 'not_found' } })
  expect(await read(`${path}/no`)).toMatchObject({ error: { details: { code: 'ENOTDIR' } } })
})

test.each([
  ['grows', (path: string) => appendFile(path, 'x')],
  ['shrinks', (path: string) => truncate(path, 1)],
  ['is written over', (path: string) => writeFile(path, 'hullo')],
  ['is written over, and says it was not', backdated],
  [
    'is replaced',
    (path: string) => writeFile(`${path}-2`, 'hullo').then(() => rename(`${path}-2`, path)),
  ],
  ['is replaced by a link', replacedByLink],
  ['has the folder on its way swapped', folderSwapped],
  [
    'has the folder on its way moved',
    (path: string) => rename(dirname(path), `${dirname(path)}-2`),
  ],
  ['is removed', (path: string) => rm(path)],
  ['is moved', (path: string) => rename(path, `${path}-2`)],
])('a file that %s while it is read is refused', async (_, meddle) => {
  const path = await fileOf('hello')
  // Some file systems tell time in steps of a few milliseconds: what was long ago differs from now.
  await utimes(path, 1, 1)
  const files = meddledFiles(meddle)
  expect(await read(path, files)).toMatchObject({
    error: { kind: 'no_match', details: { reason: 'changed_since' } },
  })
  expect(files.openNow()).toBe(0)
})

test('of a file that goes on for ever no more is read than there is room for', async () => {
  const path = await fileOf('x'.repeat(90))
  const files = meddledFiles(() => appendFile(path, 'x'.repeat(90)))
  expect(await read(path, files)).toMatchObject({
    error: { kind: 'too_large', details: { size: 100 } },
  })
})

test('a file that nobody waits for any longer is closed', async () => {
  const path = await fileOf('hello')
  const stop = new AbortController()
  const files = meddledFiles(async () => stop.abort())
  expect(await read(path, files, Buffer.alloc(100), stop.signal)).toMatchObject({
    error: { kind: 'interrupted' },
  })
  expect(files.openNow()).toBe(0)
})

async function backdated(path: string): Promise<void> {
  await writeFile(path, 'hullo')
  await utimes(path, 1, 1)
}

async function folderSwapped(path: string): Promise<void> {
  const folder = dirname(path)
  await rename(folder, `${folder}-2`)
  await mkdir(folder)
  await writeFile(path, 'hullo')
}

async function replacedByLink(path: string): Promise<void> {
  await rename(path, `${path}-2`)
  await symlink(`${path}-2`, path)
}

/** One that nobody listens to any more. It is renamed, because whoever stops listening takes the name away. */
async function socketAt(path: string): Promise<void> {
  const server = createServer().listen(`${path}-1`)
  await once(server, 'listening')
  await rename(`${path}-1`, path)
  await once(server.close(), 'close')
}
