import {
  lstat,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CrashDisk } from '../../test/support/host/crash-disk.ts'
import { freshFolder } from '../../test/support/host/folder.ts'
import { overwrite } from '../../test/support/log/raw-log.ts'
import { value } from '../../test/support/log/story.ts'
import { sha256 } from '../encoding/hash.ts'
import { systemClock } from '../host/clock.ts'
import type { Folder } from '../host/files/files.ts'
import { systemIds } from '../host/ids.ts'
import { openWorkspace } from '../host/workspace.ts'
import { workspaceBlobStore } from './workspace-store.ts'

const ids = systemIds(systemClock)

async function inWorkspace() {
  const path = await freshFolder()
  const workspace = value(await openWorkspace(path, ids))
  onTestFinished(() => workspace.close())
  const store = workspaceBlobStore({ folder: workspace.blobs, ids, clock: systemClock })
  return { path: join(path, '.hawser', 'blobs'), store }
}

test('a blob is stored unencoded under its key in the workspace, private to its owner [TI-002] [TI-015] [TI-023]', async () => {
  const { path, store } = await inWorkspace()
  const key = value(await store.put([Buffer.from('rope')], 'text/plain'))
  expect(await readFile(join(path, key), 'utf8')).toBe('rope')
  expect((await stat(join(path, key))).mode & 0o777).toBe(0o600)
})

test('unrelated files in the folder are not blobs, and a link under a key is not followed', async () => {
  const { path, store } = await inWorkspace()
  await writeFile(join(path, 'notes.txt'), 'x')
  await writeFile(join(path, '.tmp-left'), 'x')
  const key = `${sha256('secret')}.txt`
  await writeFile(join(path, '..', 'secret'), 'secret')
  await symlink(join(path, '..', 'secret'), join(path, key))
  expect(await store.get(key)).toMatchObject({ error: { kind: 'not_regular_file' } })
  expect(value(await store.list())).toEqual([key])
  expect(value(await store.put([Buffer.from('secret')], 'text/plain'))).toBe(key)
  expect((await lstat(join(path, key))).isFile()).toBe(true)
})

test('a failed put leaves neither a temporary nor a final file [TI-025]', async () => {
  for (let fullAtWrite = 1; fullAtWrite <= 4; fullAtWrite++) {
    const disk = new CrashDisk(fullAtWrite, { fullAtWrite })
    const store = workspaceBlobStore({ folder: disk.folder(), ids, clock: systemClock })
    const pieces = Array.from({ length: 4 }, (_, i) => Buffer.alloc(1000, `${i}`))
    const full = await store.put(pieces, 'text/plain')
    expect(full).toMatchObject({ error: { kind: 'storage_failed' } })
    expect(await disk.folder().names()).toEqual([])
    disk.freeSpace()
    expect((await store.put(pieces, 'text/plain')).ok).toBe(true)
  }
})

test('a put writes a temporary file, syncs it, and renames it to its key [TI-024]', async () => {
  const calls: string[] = []
  const folder = new CrashDisk(1).folder()
  const watched: Folder = {
    ...folder,
    label: folder.label,
    open: async (name, mode) => {
      calls.push(`${mode} ${name.replace(/^\.tmp-.*/, 'temporary')}`)
      const file = await folder.open(name, mode)
      return {
        stat: () => file.stat(),
        hasName: () => file.hasName(),
        read: (into, position) => file.read(into, position),
        write: (bytes) => file.write(bytes),
        writeAt: (bytes, position) => file.writeAt(bytes, position),
        truncate: (size) => file.truncate(size),
        datasync: () => file.datasync(),
        sync: () => Promise.resolve(calls.push('sync file')).then(() => file.sync()),
        touch: () => file.touch(),
        tryLock: () => file.tryLock(),
        close: () => file.close(),
      }
    },
    rename: (from, to) => Promise.resolve(calls.push('rename')).then(() => folder.rename(from, to)),
    sync: () => Promise.resolve(calls.push('sync folder')).then(() => folder.sync()),
  }
  const store = workspaceBlobStore({ folder: watched, ids, clock: systemClock })
  const key = value(await store.put([Buffer.from('rope')], 'text/plain'))
  const lookup = `read ${key}`
  const write = ['create temporary', 'sync file', lookup, 'lease .lock', 'rename', 'sync folder']
  expect(calls).toEqual([lookup, ...write])
  // Small content that is stored already is not written, but made durable again.
  calls.length = 0
  expect(value(await store.put([Buffer.from('rope')], 'text/plain'))).toBe(key)
  expect(calls).toEqual([lookup, 'lease .lock', 'sync file', 'sync folder'])
})

test('a put of existing content keeps the file, and replaces it only if it is damaged [TI-022] [TI-080]', async () => {
  const { path, store } = await inWorkspace()
  const put = async () => value(await store.put([Buffer.from('rope')], 'text/plain'))
  const key = await put()
  const facts = async () => {
    const { ino, size, mode } = await stat(join(path, key))
    return { ino, size, mode, names: (await readdir(path)).toSorted() }
  }
  const first = await facts()
  // The open descriptor keeps the first file alive, so a replacement would have another inode.
  const held = await open(join(path, key), 'r')
  onTestFinished(() => held.close())
  expect(await put()).toBe(key)
  expect(await facts()).toEqual(first)
  for (const bad of ['sail', 'rop', 'ropes']) {
    await writeFile(join(path, key), bad)
    expect(await put()).toBe(key)
    expect(await readFile(join(path, key), 'utf8')).toBe('rope')
  }
  expect((await facts()).ino).not.toBe(first.ino)
  expect((await facts()).names).toEqual(first.names)
})

test('a put whose sync fails is not acknowledged', async () => {
  for (let badSyncAt = 1; badSyncAt <= 2; badSyncAt++) {
    const disk = new CrashDisk(badSyncAt, { badSyncAt })
    const store = workspaceBlobStore({ folder: disk.folder(), ids, clock: systemClock })
    const answer = await store.put([Buffer.from('rope')], 'text/plain')
    expect(answer).toMatchObject({ error: { kind: 'storage_failed' } })
  }
})

test('tidy removes only files that interrupted puts left behind', async () => {
  const { path, store } = await inWorkspace()
  await writeFile(join(path, '.tmp-abandoned'), 'x')
  const key = value(await store.put([Buffer.from('rope')], 'text/plain'))
  expect(value(await store.tidy(Date.now() - 60_000))).toBe(0)
  expect(value(await store.tidy(Date.now() + 60_000))).toBe(1)
  expect((await readdir(path)).filter((name) => name !== '.lock')).toEqual([key])
})

test('a file larger than the blob limit is damaged and is not read', async () => {
  const { path, store } = await inWorkspace()
  const key = value(await store.put([Buffer.from('rope')], 'text/plain'))
  await truncate(join(path, key), 10 * 2 ** 40)
  for (const ask of ['get', 'open'] as const) {
    expect(await store[ask](key)).toMatchObject({ error: { details: { state: 'damaged' } } })
  }
  expect(value(await store.put([Buffer.from('rope')], 'text/plain'))).toBe(key)
  expect((await store.get(key)).ok).toBe(true)
})

test('content over the blob limit is refused, and nothing of it stays', async () => {
  const disk = new CrashDisk(1)
  const store = workspaceBlobStore({ folder: disk.folder(), ids, clock: systemClock })
  const piece = Buffer.alloc(0)
  Object.defineProperty(piece, 'length', { value: 257 * 2 ** 20 })
  expect(await store.put([piece], 'text/plain')).toMatchObject({ error: { kind: 'too_large' } })
  expect(await disk.folder().names()).toEqual([])
})

test('errors of the source propagate, even if they look like disk errors', async () => {
  const { store } = await inWorkspace()
  async function* broken() {
    yield Buffer.from('x')
    throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
  }
  await expect(store.put(broken(), 'text/plain')).rejects.toThrow('reset')
})

test('a sweep that saw a damaged blob does not delete its replacement', async () => {
  const folder = new CrashDisk(1).folder()
  const store = workspaceBlobStore({ folder, ids, clock: systemClock })
  const key = value(await store.put([Buffer.from('rope')], 'text/plain'))
  await overwrite(folder, key, Buffer.from('spoilt'))
  const { putAt } = value(await store.stat(key))
  let putting: Promise<unknown> = Promise.resolve()
  const slow: Folder = {
    label: '',
    folder: (name, mode) => folder.folder(name, mode),
    open: (name, mode) => folder.open(name, mode),
    rename: (from, to) => folder.rename(from, to),
    // A put happens between the check of the old blob and its removal, under the lock.
    remove: async (name) => {
      putting = store.put([Buffer.from('rope')], 'text/plain')
      await new Promise(setImmediate)
      await folder.remove(name)
    },
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
  const sweeping = workspaceBlobStore({ folder: slow, ids, clock: systemClock })
  value(await sweeping.delete(key, putAt))
  await putting
  expect((await store.get(key)).ok).toBe(true)
})

test('an existing blob is made durable when it is put again', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const disk = new CrashDisk(seed)
    const store = workspaceBlobStore({ folder: disk.folder(), ids, clock: systemClock })
    // Killed before its syncs: readable, but not on disk.
    const key = `${sha256('rope')}.txt`
    await overwrite(disk.folder(), key, Buffer.from('rope'))
    value(await store.put([Buffer.from('rope')], 'text/plain'))
    const folder = disk.afterCrash(seed).folder()
    const after = workspaceBlobStore({ folder, ids, clock: systemClock })
    expect((await after.get(key)).ok).toBe(true)
  }
})
