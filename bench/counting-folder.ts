import type { File, Folder } from '../src/host/files/files.ts'
import type { FilePlace } from '../test/support/log/file-place.ts'

export interface Tally {
  /** Bytes returned by reads of all files. */
  bytesRead: number
}

/** The same folder; every read of a file is counted in `tally`. */
export function countingPlace(place: FilePlace, tally: Tally): FilePlace {
  const { sessions, heads } = place.folders
  return place.with({ sessions: counting(sessions, tally), heads: counting(heads, tally) })
}

function counting(folder: Folder, tally: Tally): Folder {
  return {
    label: folder.label,
    folder: async (name, mode) => counting(await folder.folder(name, mode), tally),
    open: async (name, mode) => countingFile(await folder.open(name, mode), tally),
    rename: (from, to) => folder.rename(from, to),
    remove: (name) => folder.remove(name),
    names: () => folder.names(),
    sync: () => folder.sync(),
    watch: (name, changed) => folder.watch(name, changed),
    close: () => folder.close(),
  }
}

function countingFile(file: File, tally: Tally): File {
  return {
    stat: () => file.stat(),
    hasName: () => file.hasName(),
    read: async (into, position) => {
      const count = await file.read(into, position)
      tally.bytesRead += count
      return count
    },
    write: (bytes) => file.write(bytes),
    writeAt: (bytes, position) => file.writeAt(bytes, position),
    truncate: (size) => file.truncate(size),
    datasync: () => file.datasync(),
    sync: () => file.sync(),
    touch: () => file.touch(),
    tryLock: () => file.tryLock(),
    close: () => file.close(),
  }
}
