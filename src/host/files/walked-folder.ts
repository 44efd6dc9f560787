import { constants } from 'node:fs'
import { mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import process from 'node:process'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

const FOLDER = O_RDONLY | O_DIRECTORY | O_NONBLOCK
const FOLDER_MODE = 0o755

/**
 * A folder that was opened, and names in it by its descriptor: openat(2) by way of /proc, so that a folder swapped for a
 * link cannot lead elsewhere. Where there is no /proc (not Linux) names go by the folder's path, and `whereIs` finds out
 * afterwards whether something was swapped on the way: an attacker who swaps back in time is not seen there.
 */
export class WalkedFolder {
  readonly handle: FileHandle
  /** Where it was when it was opened. */
  readonly path: string

  constructor(handle: FileHandle, path: string) {
    this.handle = handle
    this.path = path
  }

  /** The system's path of this very folder, wherever it is now. */
  get base(): string {
    return HAS_PROC ? `/proc/self/fd/${this.handle.fd}` : this.path
  }

  at(name: string): string {
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
      throw new Error('a name of one segment was expected')
    }
    return `${this.base}/${name}`
  }

  /** Device and inode. */
  async id(): Promise<string> {
    return idOf(await this.handle.stat({ bigint: true }))
  }

  /** Makes a folder, durably; that there is something already is no failure. */
  async make(name: string): Promise<void> {
    try {
      await mkdir(this.at(name), { mode: FOLDER_MODE })
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return
      throw error
    }
    await this.handle.sync()
  }
}

const HAS_PROC = process.platform === 'linux'

/** Opens a folder by its path, following links: a person chose it. */
export async function openRoot(path: string): Promise<WalkedFolder> {
  const handle = await open(path, FOLDER)
  try {
    const where = HAS_PROC ? await readlink(`/proc/self/fd/${handle.fd}`) : await realpath(path)
    return new WalkedFolder(handle, where)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** What a name in a folder turned out to be on the way to somewhere: a folder, now open, or the words of a link. */
export type Entered = WalkedFolder | { readonly target: string } | 'missing'

/** Opens a folder in a folder, following nothing. Throws the system's error for a file or a closed door. */
export async function enter(folder: WalkedFolder, name: string): Promise<Entered> {
  try {
    const handle = await open(folder.at(name), FOLDER | O_NOFOLLOW)
    return new WalkedFolder(handle, `${folder.path}/${name}`)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing'
    if (!hasCode(error, 'ENOTDIR', 'ELOOP')) throw error
    return { target: await linkTarget(folder, name, error) }
  }
}

/**
 * Where an open file or folder is now, as the system says; `undefined` when that cannot be told. `path` is where it was
 * when it was opened.
 */
export async function whereIs(handle: FileHandle, path: string): Promise<string | undefined> {
  if (HAS_PROC) return readlink(`/proc/self/fd/${handle.fd}`)
  const where = await realpath(path)
  const [named, opened] = await Promise.all([stat(where), handle.stat()])
  return idOf(named) === idOf(opened) ? where : undefined
}

export function idOf({ dev, ino }: { dev: number | bigint; ino: number | bigint }): string {
  return `${dev}:${ino}`
}

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}

async function linkTarget(folder: WalkedFolder, name: string, why: unknown): Promise<string> {
  try {
    return await readlink(folder.at(name))
  } catch (error) {
    // Not a link either: then the first error told what it is.
    throw hasCode(error, 'EINVAL') ? why : error
  }
}
