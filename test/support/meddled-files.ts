import { outsideFiles, type OutsideFiles } from '../../src/host/files/outside-file.ts'

export interface MeddledFiles extends OutsideFiles {
  /** How many files are open. */
  readonly openNow: () => number
}

/** The files of this machine, with somebody who does something between the opening of a file and the end of its reading. */
export function meddledFiles(meddle: (path: string) => Promise<unknown>): MeddledFiles {
  let opened = 0
  return {
    look: (path) => outsideFiles.look(path),
    openNow: () => opened,
    open: async (path) => {
      const handle = await outsideFiles.open(path)
      opened += 1
      let meddled = false
      return {
        stat: () => handle.stat(),
        read: async (into, position) => {
          const count = await handle.read(into, position)
          if (!meddled) await meddle(path)
          meddled = true
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
