import type { File, Folder, OpenMode } from '../../../src/host/files/files.ts'
import { withBug, type PlantedBug } from '../host/planted-bugs.ts'

/** Defects of the store of frames in files, by what it would do to its folders. */
export const WRONG_FRAMES = [
  'no_folder_sync',
  'acknowledge_before_sync',
  'short_write_ignored',
  'rename_before_sync',
  'no_lock',
  'no_rollback',
  'lease_not_checked',
  'opened_without_sync',
  'deletes_nothing',
  'deletes_the_newest',
] as const
type WrongFrames = (typeof WRONG_FRAMES)[number]

const BUGS: ReadonlySet<string> = new Set<PlantedBug>([
  'no_folder_sync',
  'acknowledge_before_sync',
  'short_write_ignored',
  'rename_before_sync',
])

/** The folder as a store with that defect uses it; `none` changes nothing. */
export function withDefect(folder: Folder, defect: WrongFrames | 'none'): Folder {
  if (isBug(defect)) return withBug(folder, defect)
  return {
    label: folder.label,
    folder: async (name, mode) => withDefect(await folder.folder(name, mode), defect),
    open: async (name, mode) => fileWithDefect(await folder.open(name, mode), mode, defect),
    rename: (from, to) => folder.rename(from, to),
    remove: async (name) => {
      if (!name.endsWith('.ndjson')) return folder.remove(name)
      if (defect === 'deletes_nothing') return undefined
      const files = (await folder.names()).filter((one) => one.endsWith('.ndjson')).toSorted()
      const [newest = name] = files.slice(-1)
      return folder.remove(defect === 'deletes_the_newest' ? newest : name)
    },
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function isBug(defect: string): defect is Extract<WrongFrames, PlantedBug> {
  return BUGS.has(defect)
}

function fileWithDefect(file: File, mode: OpenMode, defect: WrongFrames | 'none'): File {
  let isWritten = false
  return {
    stat: () => file.stat(),
    hasName: () => defect === 'lease_not_checked' || file.hasName(),
    read: (into, position) => file.read(into, position),
    write: (bytes) => {
      isWritten = true
      return file.write(bytes)
    },
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: async (size) => {
      if (defect !== 'no_rollback') await file.truncate(size)
    },
    datasync: async () => {
      const isOpening = mode === 'append' && !isWritten
      if (defect !== 'opened_without_sync' || !isOpening) await file.datasync()
    },
    sync: () => file.sync(),
    touch: () => file.touch(),
    tryLock: async () => {
      const isLocked = await file.tryLock()
      return isLocked || defect === 'no_lock'
    },
    close: () => file.close(),
  }
}
