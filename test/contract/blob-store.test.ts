import { mkdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { workspaceBlobStore } from '../../src/blobs/workspace-store.ts'
import { systemClock } from '../../src/host/clock.ts'
import { diskFolder } from '../../src/host/files/disk.ts'
import type { Folder } from '../../src/host/files/files.ts'
import { systemIds } from '../../src/host/ids.ts'
import { CrashDisk } from '../support/host/crash-disk.ts'
import { freshFolder } from '../support/host/folder.ts'
import { memoryStore } from '../support/resources/memory-store.ts'
import { overwrite } from '../support/log/raw-log.ts'
import { blobStoreContract } from './blob-store.ts'

const ids = systemIds(systemClock)
const storeIn = (folder: Folder) => workspaceBlobStore({ folder, ids, clock: systemClock })

// One suite for every store: any store that passes it can replace another.
blobStoreContract(
  'the workspace store on a disk',
  async () => {
    const path = await freshFolder()
    await mkdir(join(path, 'other'))
    const folder = await diskFolder(path)
    const otherFolder = await diskFolder(join(path, 'other'))
    return {
      store: storeIn(folder),
      again: storeIn(folder),
      other: storeIn(otherFolder),
      corrupt: (key, bytes) => overwrite(folder, key, bytes),
      age: async (key, ms) => {
        const { mtimeMs } = await stat(join(path, key))
        await utimes(join(path, key), (mtimeMs - ms) / 1000, (mtimeMs - ms) / 1000)
      },
      close: async () => {
        await folder.close()
        await otherFolder.close()
      },
    }
  },
  { large: true },
)

blobStoreContract(
  'the workspace store on a disk that writes short',
  async () => {
    const disk = new CrashDisk(7, { shortWrites: true })
    const folder = disk.folder()
    return {
      ends: { disk, after: (seed) => storeIn(disk.afterCrash(seed).folder()) },
      store: storeIn(folder),
      again: storeIn(folder),
      other: storeIn(new CrashDisk(8).folder()),
      corrupt: (key, bytes) => overwrite(folder, key, bytes),
      age: async (key, ms) => {
        const inode = disk.root.entries?.get(key)
        if (inode !== undefined) inode.changedAt -= ms
      },
      close: async () => {},
    }
  },
  { ends: true, leaves: true },
)

blobStoreContract(
  'a store in memory',
  async () => {
    const memory = memoryStore(systemClock)
    return {
      ends: { disk: memory.disk, after: (seed) => memory.afterEnd(seed).store },
      store: memory.store,
      again: memory.store,
      other: memoryStore(systemClock).store,
      corrupt: async (key, bytes) => memory.corrupt(key, bytes),
      age: async (key, ms) => memory.age(key, ms),
      close: async () => {},
    }
  },
  { ends: true, large: true },
)
