import { constants, fstatSync, lstatSync, watch, type Stats } from 'node:fs'
import { mkdir, open, readdir, rename, unlink, type FileHandle } from 'node:fs/promises'
import process from 'node:process'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { datasyncDescriptor, writeDescriptor } from './descriptor.ts'
import {
  FileFailure,
  asFileFailure,
  isMissing,
  type File,
  type Folder,
  type OpenMode,
} from './files.ts'
import { atFolder } from './folder-identity.ts'

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } =
  constants

/**
 * Opens a folder on disk by its path. Links in the path are followed, because a person chose it; from there on no link is
 * followed. It must be a folder; only folders that are opened below it must be ours.
 */
export async function diskFolder(path: string, label = path): Promise<Folder> {
  return new DiskFolder(await asFileFailure(open(path, O_RDONLY | O_DIRECTORY)), label)
}

/** A folder by its path, or the recorded one and no other: see `atFolder`. */
export type FolderPlace = string | FolderIdentity

/** Where it is expected. */
export function pathOf(place: FolderPlace): string {
  return typeof place === 'string' ? place : place.path
}

/** Opens a folder that was named now or recorded earlier. */
export async function folderAt(place: FolderPlace): Promise<Folder> {
  if (typeof place === 'string') return diskFolder(place)
  return atFolder(place, (path) => diskFolder(path, place.path))
}

const OPEN_FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY,
  append: O_RDWR | O_APPEND,
  create: O_RDWR | O_APPEND | O_CREAT | O_EXCL,
  lease: O_RDWR | O_APPEND | O_CREAT,
  overwrite: O_RDWR,
}

class DiskFolder implements Folder {
  readonly label: string
  readonly #handle: FileHandle
  readonly #base: string

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle
    this.label = path
    // openat(2) through /proc: a folder swapped for a link cannot lead elsewhere. Without /proc the path is used; below the
    // first private folder (0700, ours) only our own user could swap anything.
    this.#base = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path
  }

  async folder(name: string, mode: 'open' | 'create'): Promise<Folder> {
    const path = this.#at(name)
    const opening = () => asFileFailure(open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
    const handle = await opening().catch(async (error: unknown) => {
      if (mode === 'open' || !isMissing(error)) throw error
      await asFileFailure(mkdir(path, { mode: 0o700 })).catch(unlessThere)
      return opening()
    })
    return keepingIf(handle, async () => {
      // Also if it existed: its creator may have been killed before the sync.
      if (mode === 'create') await this.sync()
      await assertPrivate(handle, `${this.label}/${name}`)
      return new DiskFolder(handle, `${this.label}/${name}`)
    })
  }

  async open(name: string, mode: OpenMode): Promise<File> {
    const flags = OPEN_FLAGS[mode] | O_NOFOLLOW | O_NONBLOCK
    const path = this.#at(name)
    if (mode === 'read' && (await asFileFailure(isMissingAt(path)))) {
      throw new FileFailure('ENOENT', `${this.label}/${name} does not exist`)
    }
    const handle = await asFileFailure(open(path, flags, 0o600))
    return keepingIf(handle, async () => {
      if ((await asFileFailure(openFacts(handle))).isFile()) return new DiskFile(handle)
      throw new FileFailure('NOT_REGULAR', `${this.label}/${name} is not a regular file`)
    })
  }

  async rename(from: string, to: string): Promise<void> {
    await asFileFailure(rename(this.#at(from), this.#at(to)))
  }

  async remove(name: string): Promise<void> {
    await asFileFailure(unlink(this.#at(name)))
  }

  async names(): Promise<string[]> {
    return asFileFailure(readdir(this.#base))
  }

  async sync(): Promise<void> {
    await asFileFailure(this.#handle.sync())
  }

  async watch(name: string, changed: () => void): Promise<{ close(): void }> {
    const watcher = await asFileFailure(
      (async () => watch(this.#at(name), { persistent: false }, changed))(),
    )
    // A watch that breaks later reports one last change; the reader then finds out why.
    watcher.on('error', changed)
    return { close: () => watcher.close() }
  }

  async close(): Promise<void> {
    await asFileFailure(this.#handle.close())
  }

  #at(name: string): string {
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
      throw new Error('expected a file name of one segment')
    }
    return `${this.#base}/${name}`
  }
}

class DiskFile implements File {
  readonly #handle: FileHandle
  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Synchronous inside: the system answers from memory, and a thread would cost ten times as much. */
  hasName(): boolean {
    return fstatSync(this.#handle.fd).nlink > 0
  }

  async stat() {
    const facts = await asFileFailure(openFacts(this.#handle))
    const onlyOurs = isOurFile(facts) && (facts.mode & 0o077) === 0
    return { size: facts.size, links: facts.nlink, changedAt: facts.mtimeMs, onlyOurs }
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return (await asFileFailure(this.#handle.read(into, 0, into.length, position))).bytesRead
  }

  async write(bytes: Uint8Array): Promise<number> {
    return asFileFailure(writeDescriptor(this.#handle.fd, bytes))
  }

  async writeAt(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await asFileFailure(
        this.#handle.write(bytes, done, bytes.length - done, position + done),
      )
      done += bytesWritten
    }
  }

  async truncate(size: number): Promise<void> {
    await asFileFailure(this.#handle.truncate(size))
  }

  async datasync(): Promise<void> {
    await asFileFailure(datasyncDescriptor(this.#handle.fd))
  }

  async sync(): Promise<void> {
    await asFileFailure(this.#handle.sync())
  }

  async touch(): Promise<void> {
    const now = Date.now() / 1000
    await asFileFailure(this.#handle.utimes(now, now))
  }

  async tryLock(): Promise<boolean> {
    const { tryLock } = await import('fs-native-extensions').catch(() => {
      throw new FileFailure('NO_LOCKS', 'the file lock of this platform could not be loaded')
    })
    return tryLock(this.#handle.fd)
  }

  async close(): Promise<void> {
    await asFileFailure(this.#handle.close())
  }
}

/** Another process may have made it meanwhile. */
function unlessThere(error: unknown): void {
  if (!(error instanceof FileFailure && error.code === 'EEXIST')) throw error
}

/** Synchronous inside: this runs before every tool call, for a file that is usually missing. */
async function isMissingAt(path: string): Promise<boolean> {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

async function openFacts({ fd }: FileHandle): Promise<Stats> {
  return fstatSync(fd)
}

/** Runs `work` on an open handle; if it throws, the handle is closed. */
async function keepingIf<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Requires that the folder is ours and not writable by others; removes read access of others. */
async function assertPrivate(handle: FileHandle, label: string): Promise<void> {
  const facts = await asFileFailure(openFacts(handle))
  if (!isOurFile(facts)) {
    throw new FileFailure('NOT_OURS', `${label} belongs to another user`)
  }
  if ((facts.mode & 0o022) !== 0) {
    throw new FileFailure('OPEN_TO_OTHERS', `${label} is writable by other users`)
  }
  if ((facts.mode & 0o077) !== 0) await asFileFailure(handle.chmod(0o700))
}

function isOurFile({ uid: owner }: Stats): boolean {
  const uid = process.geteuid?.()
  return uid === undefined || owner === uid
}
