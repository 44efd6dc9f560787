import { expect, test } from 'vitest'
import { workspaceBlobStore } from '../../src/blobs/workspace-store.ts'
import type { BlobStore } from '../../src/blobs/store.ts'
import { sha256 } from '../../src/encoding/hash.ts'
import { systemClock } from '../../src/host/clock.ts'
import { systemIds } from '../../src/host/ids.ts'
import { failed } from '../../src/model/errors.ts'
import { BlobKey } from '../../src/model/ids.ts'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { withBug, type PlantedBug } from '../support/host/planted-bugs.ts'
import { overwrite } from '../support/log/raw-log.ts'
import { blobStoreCases } from './blob-store.ts'
import type { StoreUnderTest } from './blob-store/under-test.ts'

const ids = systemIds(systemClock)

/** Defects of the store itself, beside those of its writes. */
const DEFECTS = {
  reads_without_a_check: (store: BlobStore, disk: CrashDisk): BlobStore => ({
    ...store,
    get: async (key) => {
      const content = disk.root.entries?.get(key)?.content
      const read = await store.get(key)
      return content === undefined || (!read.ok && read.error.kind === 'invalid_args')
        ? read
        : { ok: true, value: content }
    },
  }),
  deletes_what_was_renewed: (store: BlobStore): BlobStore => ({
    ...store,
    delete: (key) => store.delete(key),
  }),
  renews_nothing: (store: BlobStore): BlobStore => ({
    ...store,
    renew: async (key) => {
      const found = await store.stat(key)
      if (found.ok) return { ok: true, value: true }
      return found.error.kind === 'resource_missing' ? { ok: true, value: false } : found
    },
  }),
  opens_without_a_check: (store: BlobStore, disk: CrashDisk): BlobStore => ({
    ...store,
    open: async (key) => {
      const content = disk.root.entries?.get(key)?.content
      const opened = await store.open(key)
      if (opened.ok || content === undefined) return opened
      const read = async function* () {
        yield content
      }
      return { ok: true, value: { size: content.length, read, close: async () => {} } }
    },
  }),
  an_absent_blob_is_empty: (store: BlobStore): BlobStore => ({
    ...store,
    get: async (key) => {
      const read = await store.get(key)
      if (read.ok || read.error.kind !== 'resource_missing') return read
      return { ok: true, value: Buffer.alloc(0) }
    },
  }),
  reads_all_of_an_open_blob: (store: BlobStore): BlobStore => ({
    ...store,
    open: async (key) => {
      const opened = await store.open(key)
      if (!opened.ok) return opened
      return { ok: true, value: { ...opened.value, read: () => opened.value.read() } }
    },
  }),
  a_wrong_key_is_a_missing_blob: (store: BlobStore): BlobStore => ({
    ...store,
    stat: async (key) => {
      const found = await store.stat(key)
      if (found.ok || found.error.kind !== 'invalid_args') return found
      return failed('resource_missing', 'The payload is missing.')
    },
  }),
  any_type_is_stored: (store: BlobStore): BlobStore => ({
    ...store,
    put: (bytes) => store.put(bytes, 'text/plain'),
  }),
  errors_of_the_source_are_failures: (store: BlobStore): BlobStore => ({
    ...store,
    put: (bytes, type) =>
      store.put(bytes, type).catch(() => failed('storage_failed', 'The put failed.')),
  }),
  tidies_nothing: (store: BlobStore): BlobStore => ({
    ...store,
    tidy: async () => ({ ok: true, value: 0 }),
  }),
  tidies_what_is_being_put: (store: BlobStore): BlobStore => ({
    ...store,
    tidy: () => store.tidy(Infinity),
  }),
  a_failed_put_is_acknowledged: (store: BlobStore): BlobStore => ({
    ...store,
    put: async (bytes, type) => {
      const all: Uint8Array[] = []
      for await (const piece of bytes) all.push(piece)
      const key = await store.put(all, type)
      if (key.ok || key.error.kind !== 'storage_failed') return key
      return { ok: true, value: BlobKey.parse(`${sha256(Buffer.concat(all))}.txt`) }
    },
  }),
} as const

const BUGS = ['no_folder_sync', 'short_write_ignored', 'rename_before_sync'] as const

async function brokenPromise(
  bug: PlantedBug | undefined,
  wrong: (store: BlobStore, disk: CrashDisk) => BlobStore,
): Promise<string | undefined> {
  const seen = (disk: CrashDisk) => {
    const folder = bug === undefined ? disk.folder() : withBug(disk.folder(), bug)
    return wrong(workspaceBlobStore({ folder, ids, clock: systemClock }), disk)
  }
  let seed = 0
  const make = async (): Promise<StoreUnderTest> => {
    const disk = new CrashDisk((seed += 1), { shortWrites: true })
    return {
      store: seen(disk),
      again: seen(disk),
      other: seen(new CrashDisk(8)),
      ends: { disk, after: (next) => seen(disk.afterCrash(next)) },
      corrupt: (key, bytes) => overwrite(disk.folder(), key, bytes),
      age: async (key, ms) => {
        const inode = disk.root.entries?.get(key)
        if (inode !== undefined) inode.changedAt -= ms
      },
      close: async () => {},
    }
  }
  for (const { title, run } of blobStoreCases(make, { ends: true, leaves: true })) {
    const isKept = await run().then(
      () => true,
      () => false,
    )
    if (!isKept) return title
  }
  return undefined
}

test('the suite finds nothing wrong with the store as it is', async () => {
  expect(await brokenPromise(undefined, (store) => store)).toBeUndefined()
})

test('there are at least ten defects', () => {
  expect(BUGS.length + Object.keys(DEFECTS).length).toBeGreaterThanOrEqual(10)
})

test.each(BUGS)('the suite finds the defect %s by itself', async (bug) => {
  expect(await brokenPromise(bug, (store) => store)).toBeDefined()
})

test.each(Object.entries(DEFECTS))('the suite finds the defect %s by itself', async (_, wrong) => {
  expect(await brokenPromise(undefined, wrong)).toBeDefined()
})
