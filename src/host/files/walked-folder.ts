import { constants, fstatSync, readlinkSync } from 'node:fs'
import { mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import process from 'node:process'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

const FOLDER = O_RDONLY | O_DIRECTORY | O_NONBLOCK
const FOLDER_MODE = 0o755

/**
 * An open folder; names in it resolve through its descriptor: openat(2) through /proc, so that a folder swapped for a link
 * cannot lead elsewhere. Without /proc (not Linux), names resolve through the folder's path, and `whereIs` checks
 * afterwards whether something was swapped; an attacker who swaps back in time is not detected there.
 */
export class WalkedFolder {
  readonly handle: FileHandle
  /** Its path when it was opened. */
  readonly path: string

  constructor(handle: FileHandle, path: string) {
    this.handle = handle
    this.path = path
  }

  /** A path that always leads to this folder, wherever it is now. */
  get base(): string {
    return HAS_PROC ? `/proc/self/fd/${this.handle.fd}` : this.path
  }

  at(name: string): string {
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
      throw new Error('expected a name of one segment')
    }
    return `${this.base}/${name}`
  }

  /** Device and inode. */
  async id(): Promise<string> {
    return idOf(await this.handle.stat({ bigint: true }))
  }

  /** Creates a folder durably; an existing entry is not an error. */
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

export const HAS_PROC = process.platform === 'linux'

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

/** The result of `enter`: an open folder, the target of a link, or `missing`. */
export type EnterResult = WalkedFolder | { readonly target: string } | 'missing'

/** Opens a folder in a folder, following no link. Throws the system error for a file or a denied folder. */
export async function enter(folder: WalkedFolder, name: string): Promise<EnterResult> {
  try {
    const handle = await open(folder.at(name), FOLDER | O_NOFOLLOW)
    return new WalkedFolder(handle, `${folder.path}/${name}`)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing'
    if (!hasCode(error, 'ENOTDIR', 'ELOOP')) throw error
    return { target: await linkTarget(folder, name, error) }
  }
}

/** The current path of an open file or folder; `undefined` if unknown. `path` is where it was when it was opened. */
export async function whereIs(fd: number, path: string): Promise<string | undefined> {
  // The system answers from memory; a thread would cost ten times as much.
  if (HAS_PROC) return readlinkSync(`/proc/self/fd/${fd}`)
  const where = await realpath(path)
  const named = await stat(where, { bigint: true })
  return idOf(named) === idOf(fstatSync(fd, { bigint: true })) ? where : undefined
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
    // Not a link either, so the first error applies.
    throw hasCode(error, 'EINVAL') ? why : error
  }
}
