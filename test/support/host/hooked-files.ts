import { outsideFiles, type OutsideFiles } from '../../../src/host/files/outside-file.ts'

export interface HookedFiles extends OutsideFiles {
  /** The number of open files. */
  readonly openNow: () => number
}

/** The files of this machine, with a hook after the first read of each, so that a test can change a file while it is read. */
export function hookedFiles(afterFirstRead: (path: string) => Promise<unknown>): HookedFiles {
  let opened = 0
  return {
    look: (path) => outsideFiles.look(path),
    openNow: () => opened,
    open: async (path) => {
      const handle = await outsideFiles.open(path)
      opened += 1
      let called = false
      return {
        stat: () => handle.stat(),
        read: async (into, position) => {
          const count = await handle.read(into, position)
          if (!called) await afterFirstRead(path)
          called = true
          return count
        },
        close: async () => {
          await handle.close()
          opened -= 1
        },
      }
    },
  }
}
