import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs'

// Synchronous: hundreds of these calls run at every start, and a thread would cost ten times as much as the system. What the
// system refuses is as good as absent.

/** Of the entry itself: a link is not followed. */
export function factsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

export function entryNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** The path without links. */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
