import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  type BigIntStats,
} from 'node:fs'
import { isAbsolute } from 'node:path'
import { causeOf, failed, ok, type Result } from '../../model/errors.ts'
import { isSameFolder, type FolderIdentity } from '../../model/folder-identity.ts'
import { asFileFailure, asHostResult, closing, FileFailure } from './files.ts'
import { HAS_PROC, hasCode } from './walked-folder.ts'

// Synchronous inside: the system answers from memory, and a thread would cost ten times as much.

/**
 * The identity of the folder that a path leads to, links followed: for a path that a person or program names now. The kinds are
 * those of `realFolder`.
 */
export async function identifyFolder(path: string): Promise<Result<FolderIdentity>> {
  if (!isAbsolute(path) || path.includes('\0')) {
    return failed('invalid_args', 'The path of a folder must be absolute.')
  }
  return asHostResult('find the folder', async () => ok(identify(path))).then(withFolderWords)
}

/** Runs `work` with the path of a `HeldFolder`. Throws a `FileFailure`. */
export async function atFolder<T>(
  identity: FolderIdentity,
  work: (path: string) => Promise<T>,
): Promise<T> {
  return closing(await holdFolder(identity), ({ path }) => work(path))
}

/** An open folder. Close it. */
export interface HeldFolder {
  /** Leads this process to the folder and to no other until it is closed, whatever happens to the folder's own path. */
  readonly path: string
  close(): Promise<void>
}

/**
 * Opens the recorded folder, or one below it. Every step is opened in the folder before and follows no link. Throws a
 * `FileFailure`: `OTHER_FOLDER` for a link on the way and for another folder, `ENOENT` if nothing is there, `ENOTDIR` for a
 * file.
 */
export async function holdFolder(
  identity: FolderIdentity,
  below: readonly string[] = [],
): Promise<HeldFolder> {
  const descriptor = await asFileFailure(openBelow(identity, below))
  return {
    path: HAS_PROC ? `/proc/self/fd/${descriptor}` : [identity.path, ...below].join('/'),
    close: async () => closeSync(descriptor),
  }
}

/** Whether the recorded folder is at its path now. */
export function isFolderThere(identity: FolderIdentity): boolean {
  try {
    closeSync(openFolder(identity))
    return true
  } catch {
    return false
  }
}

/** The identity of the recorded folder now, which may have another device number. Fails if another folder is there. */
export async function checkFolder(identity: FolderIdentity): Promise<Result<FolderIdentity>> {
  return asHostResult(`open ${identity.path}`, async () => {
    const descriptor = openFolder(identity)
    try {
      return ok(identityOf(descriptor, identity.path))
    } finally {
      closeSync(descriptor)
    }
  })
}

/**
 * Device and inode of what is at paths below a recorded folder, each given by its names; `undefined` where nothing is there, or a
 * link is on the way. Throws as `atFolder` does.
 */
export function idsBelow(
  identity: FolderIdentity,
  paths: readonly (readonly string[])[],
): readonly (string | undefined)[] {
  const folder = openFolder(identity)
  try {
    return paths.map((names) => idAt(folder, identity.path, names))
  } finally {
    closeSync(folder)
  }
}

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants
/** Node does not name it. It needs no right to list the folder. */
const O_PATH = HAS_PROC ? 0o10000000 : O_RDONLY
const FOLDER = O_PATH | O_DIRECTORY

/** What /proc shows for a folder that was deleted or replaced between two steps does not lead to it: then it is tried again. */
const MOST_TRIES = 3

function identify(path: string): FolderIdentity {
  for (let tries = 1; ; tries++) {
    const descriptor = openSync(path, FOLDER)
    try {
      const real = HAS_PROC
        ? readlinkSync(`/proc/self/fd/${descriptor}`)
        : realpathSync.native(path)
      const found = identityOf(descriptor, real)
      closeSync(openFolder(found))
      return found
    } catch (error) {
      if (tries === MOST_TRIES) throw error
    } finally {
      closeSync(descriptor)
    }
  }
}

async function openBelow(identity: FolderIdentity, below: readonly string[]): Promise<number> {
  let folder = openFolder(identity)
  for (const name of below) folder = step(folder, name, identity.path)
  return folder
}

/** Close the descriptor. */
function openFolder(identity: FolderIdentity): number {
  const descriptor = HAS_PROC ? openWithoutLinks(identity.path) : openByPath(identity.path)
  try {
    if (isSameFolder(identity, identityOf(descriptor, identity.path))) return descriptor
    throw otherFolder(identity.path)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function openWithoutLinks(path: string): number {
  let folder = openSync('/', FOLDER)
  for (const name of path.split('/')) if (name !== '') folder = step(folder, name, path)
  return folder
}

/** Opens a folder in an open one, which it closes. */
function step(folder: number, name: string, path: string): number {
  try {
    return openSync(`/proc/self/fd/${folder}/${name}`, FOLDER | O_NOFOLLOW)
  } catch (error) {
    const isLink = hasCode(error, 'ENOTDIR', 'ELOOP') && isLinkAt(`/proc/self/fd/${folder}/${name}`)
    throw isLink ? otherFolder(path) : error
  } finally {
    closeSync(folder)
  }
}

/** Without /proc; an attacker who swaps back in time is not detected there. */
function openByPath(path: string): number {
  const descriptor = openSync(path, FOLDER | O_NOFOLLOW)
  if (realpathSync.native(path) === path) return descriptor
  closeSync(descriptor)
  throw otherFolder(path)
}

function idAt(folder: number, path: string, names: readonly string[]): string | undefined {
  let place = HAS_PROC ? `/proc/self/fd/${folder}` : path
  const opened: number[] = []
  try {
    for (const [at, name] of names.entries()) {
      const isLast = at === names.length - 1
      const next = `${place}/${name}`
      const facts = lstatSync(next, { bigint: true, throwIfNoEntry: false })
      if (facts === undefined || facts.isSymbolicLink()) return undefined
      if (isLast) return `${facts.dev}:${facts.ino}`
      const inner = openSync(next, FOLDER | O_NOFOLLOW)
      opened.push(inner)
      place = HAS_PROC ? `/proc/self/fd/${inner}` : next
    }
    const { dev, ino } = fstatSync(folder, { bigint: true })
    return `${dev}:${ino}`
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return undefined
    throw error
  } finally {
    for (const inner of opened) closeSync(inner)
  }
}

function isLinkAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function identityOf(descriptor: number, path: string): FolderIdentity {
  const facts = fstatSync(descriptor, { bigint: true })
  const boot = bootId()
  return {
    path,
    dev: String(facts.dev),
    ino: String(facts.ino),
    ...bornOf(facts),
    ...(boot === undefined ? {} : { boot }),
  }
}

function bornOf({ birthtimeNs }: BigIntStats): Pick<FolderIdentity, 'born'> {
  return birthtimeNs > 0n && knowsBirth() ? { born: String(birthtimeNs) } : {}
}

let birth: boolean | undefined
/** Where the system does not tell, Node passes off another time; /proc records none. */
function knowsBirth(): boolean {
  birth ??= !HAS_PROC || statSync('/proc/self', { bigint: true }).birthtimeNs === 0n
  return birth
}

let boot: { readonly id: string | undefined } | undefined
function bootId(): string | undefined {
  boot ??= { id: readBootId() }
  return boot.id
}

function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

function otherFolder(path: string): FileFailure {
  return new FileFailure('OTHER_FOLDER', `${path} leads to another folder`)
}

/** In the words of `realFolder`. */
function withFolderWords(found: Result<FolderIdentity>): Result<FolderIdentity> {
  const cause = found.ok ? undefined : causeOf(found.error)
  const code = cause?.type === 'system' ? cause.code : undefined
  if (code === 'ENOENT' || code === 'ENAMETOOLONG')
    return failed('not_found', 'The folder does not exist.')
  if (code === 'ENOTDIR') return failed('not_regular_file', 'The path does not lead to a folder.')
  return found
}
