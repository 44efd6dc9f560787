import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFile,
  link,
  mkdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../test/support/host/folder.ts'
import { hookedFiles } from '../../../test/support/host/hooked-files.ts'
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

test('a file is read completely into the given buffer', async () => {
  const path = await fileOf('hello')
  const into = Buffer.alloc(100)
  const found = await read(path, outsideFiles, into)
  expect(found).toEqual({ ok: true, value: Buffer.from('hello') })
  expect(into.toString('latin1', 0, 5)).toBe('hello')
})

test('hard links and links on the way are accepted', async () => {
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
])('a %s is refused without blocking', async (_, make, details) => {
  const path = join(await freshFolder(), 'file')
  await make(path)
  expect(await read(path)).toMatchObject({ error: { kind: 'not_regular_file', details } })
})

test.runIf(process.getuid?.() === 0)(
  'a device is refused, and nothing is read from it',
  async () => {
    const path = join(await freshFolder(), 'file')
    execFileSync('mknod', [path, 'c', '1', '5'])
    expect(await read(path)).toMatchObject({
      error: { kind: 'not_regular_file', details: { found: 'device' } },
    })
  },
)

test('a missing file is not found', async () => {
  const path = await fileOf('hello')
  expect(await read(`${path}-no`)).toMatchObject({ error: { kind: 'not_found' } })
  expect(await read(`${path}/no`)).toMatchObject({ error: { details: { code: 'ENOTDIR' } } })
})

test.each([
  ['grows', (path: string) => appendFile(path, 'x')],
  ['shrinks', (path: string) => truncate(path, 1)],
  ['is overwritten', (path: string) => writeFile(path, 'hullo')],
  ['is overwritten with its old timestamp', backdated],
  [
    'is replaced',
    (path: string) => writeFile(`${path}-2`, 'hullo').then(() => rename(`${path}-2`, path)),
  ],
  ['is replaced by a link', replacedByLink],
  ['has a parent folder swapped', folderSwapped],
  ['has a parent folder moved', (path: string) => rename(dirname(path), `${dirname(path)}-2`)],
  ['is removed', (path: string) => rm(path)],
  ['is moved', (path: string) => rename(path, `${path}-2`)],
])('a file that %s while it is read is refused', async (_, change) => {
  const path = await fileOf('hello')
  // Some file systems have coarse timestamps, so start from one long ago.
  await utimes(path, 1, 1)
  const files = hookedFiles(change)
  expect(await read(path, files)).toMatchObject({
    error: { kind: 'no_match', details: { reason: 'changed_since' } },
  })
  expect(files.openNow()).toBe(0)
})

test('an endless file is read only as far as the buffer allows', async () => {
  const path = await fileOf('x'.repeat(90))
  const files = hookedFiles(() => appendFile(path, 'x'.repeat(90)))
  expect(await read(path, files)).toMatchObject({
    error: { kind: 'too_large', details: { size: 100 } },
  })
})

test('an aborted read closes the file', async () => {
  const path = await fileOf('hello')
  const stop = new AbortController()
  const files = hookedFiles(async () => stop.abort())
  expect(await read(path, files, Buffer.alloc(100), stop.signal)).toMatchObject({
    error: { kind: 'interrupted' },
  })
  expect(files.openNow()).toBe(0)
})

async function backdated(path: string): Promise<void> {
  const { ctimeMs } = await stat(path)
  // Two changes within one tick of the file system's clock have the same ctime.
  do {
    await writeFile(path, 'hullo')
    await utimes(path, 1, 1)
  } while ((await stat(path)).ctimeMs === ctimeMs)
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

/** A socket without a listener. It is renamed, because closing the server removes its path. */
async function socketAt(path: string): Promise<void> {
  const server = createServer().listen(`${path}-1`)
  await once(server, 'listening')
  await rename(`${path}-1`, path)
  await once(server.close(), 'close')
}
