import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder, pathOf } from '../../../src/host/files/disk.ts'
import { recordsPath } from '../../../src/host/files/records.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'
import { fileRecords } from '../../../src/tether/records/files/file-records.ts'
import type { GuestRecords } from '../../../src/tether/records/guest-records.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { MemoryRecords } from '../../support/tether/memory-records.ts'
import type { RecordsUnderTest } from './under-test.ts'

/** Files on the disk of this machine, as a program sees them that uses them by `seen`. */
export async function realRecords(
  seen: (records: GuestRecords) => GuestRecords = (records) => records,
): Promise<RecordsUnderTest & { readonly close: () => Promise<void> }> {
  const root = await freshFolder()
  const path = join(root, 'home')
  await mkdir(path)
  const home = await diskFolder(path)
  const parts = { home, clock: systemClock, ids: systemIds(systemClock) }
  const records = () => seen(fileRecords({ ...parts, frames: fileFrameStore(parts) }))
  const outside = join(root, 'outside')
  await mkdir(outside)
  let workspaces = 0
  const below = async (place: Parameters<typeof recordsPath>[0], name: string) => {
    const folder = join(recordsPath(place), name)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }
  return {
    records: records(),
    other: records(),
    workspace: async () => {
      const workspace = join(root, `workspace-${(workspaces += 1)}`)
      await mkdir(workspace)
      return workspace
    },
    writeLog: async (place, session, bytes) =>
      writeFile(join(await below(place, 'sessions'), `${session}.ndjson`), bytes),
    replaceBlob: async (place, key, bytes) => {
      const file = join(await below(place, 'blobs'), key)
      await (bytes === undefined ? rm(file) : writeFile(file, bytes))
    },
    links: {
      lead: async (place, what) => {
        const whole = what === 'all' ? join(pathOf(place.workspace), '.hawser') : undefined
        const from = whole ?? (await below(place, what))
        const to = join(outside, `${workspaces}-${what}`)
        await rename(from, to)
        await symlink(to, from)
      },
      leadFile: async (place, what, name, bytes) => {
        const file = join(await below(place, what), name)
        await rm(file)
        await writeFile(join(outside, name), bytes)
        await symlink(join(outside, name), file)
      },
      outside: async () => (await readdir(outside, { recursive: true })).toSorted(),
    },
    close: () => home.close(),
  }
}

export async function memoryRecords(): Promise<RecordsUnderTest> {
  const memory = new MemoryRecords(systemClock)
  let workspaces = 0
  return {
    records: memory.records(),
    other: memory.records(),
    workspace: async () => `/workspace-${(workspaces += 1)}`,
    writeLog: async (place, session, bytes) => memory.writeLog(place, session, bytes),
    replaceBlob: async (place, key, bytes) => memory.replaceBlob(place, key, bytes),
  }
}
