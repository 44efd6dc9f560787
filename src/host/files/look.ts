import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  type Stats,
} from 'node:fs'

// Synchronous: hundreds of these calls run at every start and before every command, and a thread would cost ten times as much as the system. What the
// system refuses is as good as absent.

/** Of the entry itself: a link is not followed. */
export function factsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Of what a link leads to. */
export function factsBehind(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
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

/** At most that many bytes from the beginning of a file. A pipe has none. */
export function firstBytes(path: string, most: number): Buffer | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const into = Buffer.alloc(most)
      return into.subarray(0, readSync(file, into, 0, most, 0))
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}
