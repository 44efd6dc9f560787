import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { foldedName } from '../../../model/safety/folded-name.ts'
import {
  isGitName,
  isGitShape,
  isGitStorage,
  SHAPE_NAMES,
} from '../../../model/safety/git-places.ts'
import { protectedEnd } from '../../../model/safety/protected-paths.ts'
import { nextRound } from '../../wait.ts'

/** What one scan found, as paths relative to the root; the root itself is `''`. */
export interface Look {
  /** Folders that git accepts as git directories: those named `.git`, and those with that layout. */
  readonly gitFolders: readonly string[]
  /** Files, links and other entries named `.git`. */
  readonly gitFiles: readonly string[]
  /** Below the first level: paths that the table of protected paths names, other than git's. */
  readonly deeper: readonly string[]
  /** Entries called `.hawser`, in any spelling. They are not entered. */
  readonly hawsers: readonly string[]
  /** Folders that could not be read and may contain anything. */
  readonly unreadable: readonly string[]
}

/**
 * Remembers the folders of one tree, so that the next scan reads only those that changed. A folder's ctime changes with
 * every entry that is added, removed or replaced, and no program can set it. A folder that had just changed when it was
 * read is read again, since another change may fall into the same clock tick.
 *
 * Scans use paths, not descriptors: the command does not run during its scan. If another Session's command swaps an entry
 * meanwhile, only a name can be wrong, and names are later opened without following links. That command's own scan runs
 * after it.
 */
export class FolderIndex {
  readonly #path: string
  readonly #skippedNames: ReadonlySet<string>
  #root: KnownFolder | undefined
  /** All folders of the last scan, and its result. */
  #last: { readonly folders: readonly KnownFolder[]; readonly look: Look } | undefined
  #looking: Promise<unknown> = Promise.resolve()

  /** `skipped` are names at the root that are not entered. */
  constructor(path: string, skipped: readonly string[] = []) {
    this.#path = path
    this.#skippedNames = new Set(skipped)
  }

  /** Scans the whole tree. Concurrent calls run one after another. */
  look(): Promise<Look> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => {})
    return look
  }

  async #look(): Promise<Look> {
    if (this.#last !== undefined && (await areSame(this.#last.folders))) return this.#last.look
    const { folders, look: found } = await this.#lookAtAll()
    this.#last = { folders, look: found }
    return found
  }

  async #lookAtAll(): Promise<{ folders: readonly KnownFolder[]; look: Look }> {
    const folders: KnownFolder[] = []
    const found: FoundPaths = {
      gitFolders: [],
      gitFiles: [],
      deeper: [],
      hawsers: [],
      unreadable: [],
    }
    const now = Date.now()
    this.#root ??= unknownFolder(this.#path, '', isGitName(basename(this.#path)))
    const waiting: KnownFolder[] = [this.#root]
    for (let seen = 1; ; seen++) {
      const folder = waiting.pop()
      if (folder === undefined) return { folders, look: found }
      if (seen % FOLDERS_PER_SLICE === 0) await nextRound()
      if (!refreshFolder(folder, now, folder === this.#root ? this.#skippedNames : NONE)) continue
      folders.push(folder)
      if (!folder.readable) found.unreadable.push(folder.path)
      collect(folder, found)
      for (const inner of folder.inner.values()) waiting.push(inner)
    }
  }
}

type FoundPaths = { [K in keyof Look]: string[] }

interface KnownFolder {
  readonly at: string
  /** Relative to the root. */
  readonly path: string
  readonly inGit: boolean
  dev: number
  ino: number
  ctimeMs: number
  isSettled: boolean
  readable: boolean
  inner: Map<string, KnownFolder>
  isGit: boolean
  gitFiles: readonly string[]
  deeper: readonly string[]
  hawsers: readonly string[]
}

/** Folders scanned before other work of this process gets a turn. */
const FOLDERS_PER_SLICE = 100
/** The coarsest timestamp resolution of common file systems (FAT). */
const TICK_MS = 2_000
const NONE: ReadonlySet<string> = new Set()

function unknownFolder(at: string, path: string, inGit = false): KnownFolder {
  const names = { gitFiles: [], deeper: [], hawsers: [] }
  const nothing = { inner: new Map<string, KnownFolder>(), ...names, isGit: false }
  const never = { dev: 0, ino: 0, ctimeMs: 0, isSettled: false, readable: true }
  return { at, path, inGit, ...never, ...nothing }
}

/** Fast path: most scans find nothing changed. */
async function areSame(folders: readonly KnownFolder[]): Promise<boolean> {
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at]
    if (folder === undefined || !folder.isSettled) return false
    // Follows a link, which is faster: a link instead of the folder would have changed the folder above.
    const facts = statOf(folder.at, statSync)
    if (facts === undefined || !isUnchanged(folder, facts)) return false
    if (at % FOLDERS_PER_SLICE === FOLDERS_PER_SLICE - 1) await nextRound()
  }
  return true
}

function isUnchanged({ ctimeMs, ino, dev }: KnownFolder, facts: Stats): boolean {
  return ctimeMs === facts.ctimeMs && ino === facts.ino && dev === facts.dev
}

/** Updates one folder; false when it is no longer a folder. */
function refreshFolder(folder: KnownFolder, now: number, skipped: ReadonlySet<string>): boolean {
  const facts = statOf(folder.at)
  if (facts?.isDirectory() !== true) return false
  if (isUnchanged(folder, facts) && folder.isSettled) return true
  folder.ctimeMs = facts.ctimeMs
  folder.ino = facts.ino
  folder.dev = facts.dev
  folder.isSettled = now - facts.ctimeMs > TICK_MS
  readAgain(folder, skipped)
  return true
}

function readAgain(folder: KnownFolder, skipped: ReadonlySet<string>): void {
  const entries = typedEntries(folder.at)
  folder.readable = entries !== undefined
  const inner = new Map<string, KnownFolder>()
  const gitFiles: string[] = []
  const deeper: string[] = []
  const hawsers: string[] = []
  const shape = new Set<string>()
  for (const entry of entries ?? []) {
    const { name } = entry
    const folded = foldedName(name)
    if (SHAPE_NAMES.has(folded)) shape.add(folded)
    if (skipped.has(folded)) continue
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    if (folded === '.hawser') {
      hawsers.push(path)
      continue
    }
    const isGit = isGitName(name)
    if (folder.path !== '' && protectedEnd(path, folded) !== undefined) deeper.push(path)
    if (!entry.isDirectory()) {
      if (isGit) gitFiles.push(path)
      continue
    }
    if (folder.inGit && isGitStorage(name)) continue
    const known = folder.inner.get(name)
    const inGit = isGit || (folder.inGit && !isGitStorage(name))
    inner.set(name, known ?? unknownFolder(`${folder.at}/${name}`, path, inGit))
  }
  folder.inner = inner
  folder.gitFiles = gitFiles
  folder.deeper = deeper
  folder.hawsers = hawsers
  folder.isGit = isGitShape(shape) || isGitName(basename(folder.at))
}

function collect(folder: KnownFolder, found: FoundPaths): void {
  if (folder.isGit) found.gitFolders.push(folder.path)
  if (folder.gitFiles.length > 0) found.gitFiles.push(...folder.gitFiles)
  if (folder.deeper.length > 0) found.deeper.push(...folder.deeper)
  if (folder.hawsers.length > 0) found.hawsers.push(...folder.hawsers)
}

const NO_THROW = { throwIfNoEntry: false } as const

function statOf(path: string, stat = lstatSync): Stats | undefined {
  try {
    return stat(path, NO_THROW)
  } catch {
    return undefined
  }
}

function typedEntries(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return undefined
  }
}
