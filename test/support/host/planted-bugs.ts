import type { File, Folder } from '../../../src/host/files/files.ts'

/** Mistakes in the write protocol that have no effect until a power cut; tests must detect each of them. */
export const PLANTED_BUGS = [
  'no_folder_sync',
  'acknowledge_before_sync',
  'short_write_ignored',
  'rename_before_sync',
  'repair_without_sync',
] as const
export type PlantedBug = (typeof PLANTED_BUGS)[number]

/** The folder as a program with that bug uses it. */
export function withBug(folder: Folder, bug: PlantedBug): Folder {
  /** Delayed syncs of temporary files, by name. */
  const delayed = new Map<string, () => Promise<void>>()
  return {
    label: folder.label,
    folder: async (name, mode) => withBug(await folder.folder(name, mode), bug),
    open: async (name, mode) => {
      const file = await folder.open(name, mode)
      return fileWithBug(file, name, bug, delayed)
    },
    rename: async (from, to) => {
      const sync = delayed.get(from)
      delayed.delete(from)
      if (bug === 'repair_without_sync' && !to.includes('.torn-')) await sync?.()
      await folder.rename(from, to)
      if (bug === 'rename_before_sync') await sync?.()
    },
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: async () => {
      if (bug !== 'no_folder_sync') await folder.sync()
    },
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function fileWithBug(
  file: File,
  name: string,
  bug: PlantedBug,
  delayed: Map<string, () => Promise<void>>,
): File {
  const delaysSync = bug === 'rename_before_sync' || bug === 'repair_without_sync'
  let pending: (() => Promise<void>) | undefined
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: (into, position) => file.read(into, position),
    write: async (bytes) => {
      await pending?.()
      pending = undefined
      const count = await file.write(bytes)
      return bug === 'short_write_ignored' ? bytes.length : count
    },
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: (size) => file.truncate(size),
    datasync: async () => {
      if (bug === 'acknowledge_before_sync') pending = () => file.datasync()
      else await file.datasync()
    },
    sync: async () => {
      if (delaysSync && name.startsWith('.tmp-')) delayed.set(name, () => file.sync())
      else await file.sync()
    },
    touch: () => file.touch(),
    tryLock: () => file.tryLock(),
    close: async () => {
      if (!delayed.has(name)) await file.close()
    },
  }
}
