import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { basename } from 'node:path'
import { foldedName } from '../../../model/safety/folded-name.ts'
import {
  isGitName,
  isGitShape,
  isGitStorage,
  SHAPE_NAMES,
} from '../../../model/safety/git-places.ts'
import { protectedEnd } from '../../../model/safety/protected-paths.ts'

/** What one look found, as paths from the root; the root itself is `''`. */
export interface Look {
  /** Folders that git takes for git directories: those called `.git`, and those of that shape. */
  readonly gitFolders: readonly string[]
  /** Files, links and others called `.git`. */
  readonly gitFiles: readonly string[]
  /** Below the first level: what an entry of the table names, other than git's. */
  readonly deeper: readonly string[]
  /** Folders that could not be read, in which anything may be. */
  readonly unread: readonly string[]
}

/**
 * Knows the folders of one tree, so that the next look reads only those that changed. A folder's ctime changes with every
 * name that comes, goes or is replaced in it, and no program can set it; a folder that had just changed when it was read
 * is read again, since another change may fall into the same tick.
 *
 * Looks go by path, without descriptors: nothing of a command runs during a look, and what another Session's command swaps
 * meanwhile can only mislead a name, which is then opened without following links. That command's own look comes after it.
 */
export class FolderIndex {
  readonly #path: string
  readonly #left: ReadonlySet<string>
  #root: KnownFolder | undefined
  /** All folders of the last look, and what it found. */
  #last: { readonly folders: readonly KnownFolder[]; readonly found: Look } | undefined
  #looking: Promise<unknown> = Promise.resolve()

  /** `left` are names at the root that are not entered. */
  constructor(path: string, left: readonly string[] = []) {
    this.#path = path
    this.#left = new Set(left)
  }

  /** Looks at the whole tree. One look at a time. */
  look(): Promise<Look> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => {})
    return look
  }

  async #look(): Promise<Look> {
    if (this.#last !== undefined && (await areSame(this.#last.folders))) return this.#last.found
    const { folders, found } = await this.#lookAtAll()
    this.#last = { folders, found }
    return found
  }

  async #lookAtAll(): Promise<{ folders: readonly KnownFolder[]; found: Look }> {
    const folders: KnownFolder[] = []
    const found: Found = { gitFolders: [], gitFiles: [], deeper: [], unread: [] }
    const now = Date.now()
    this.#root ??= unread(this.#path, '', isGitName(basename(this.#path)))
    const waiting: KnownFolder[] = [this.#root]
    for (let seen = 1; ; seen++) {
      const folder = waiting.pop()
      if (folder === undefined) return { folders, found }
      if (seen % UNINTERRUPTED === 0) await breath()
      if (!refreshed(folder, now, folder === this.#root ? this.#left : NONE)) continue
      folders.push(folder)
      if (!folder.readable) found.unread.push(folder.path)
      collect(folder, found)
      for (const inner of folder.inner.values()) waiting.push(inner)
    }
  }
}

type Found = { [K in keyof Look]: string[] }

interface KnownFolder {
  readonly at: string
  /** From the root. */
  readonly path: string
  readonly inGit: boolean
  dev: number
  ino: number
  ctimeMs: number
  settled: boolean
  readable: boolean
  inner: Map<string, KnownFolder>
  isGit: boolean
  gitFiles: readonly string[]
  deeper: readonly string[]
}

/** Folders that are looked at in one go. */
const UNINTERRUPTED = 2_000
/** The coarsest time stamps of file systems that people work on. */
const TICK_MS = 2_000
const NONE: ReadonlySet<string> = new Set()

function unread(at: string, path: string, inGit = false): KnownFolder {
  const nothing = { inner: new Map<string, KnownFolder>(), gitFiles: [], deeper: [], isGit: false }
  const never = { dev: 0, ino: 0, ctimeMs: 0, settled: false, readable: true }
  return { at, path, inGit, ...never, ...nothing }
}

/** Most looks find everything as it was: this is the quick way to know. */
async function areSame(folders: readonly KnownFolder[]): Promise<boolean> {
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at]
    if (folder === undefined || !folder.settled) return false
    const facts = factsOf(folder.at)
    if (facts === undefined || !isSame(folder, facts)) return false
    if (at % UNINTERRUPTED === UNINTERRUPTED - 1) await breath()
  }
  return true
}

function isSame({ ctimeMs, ino, dev }: KnownFolder, facts: Stats): boolean {
  return ctimeMs === facts.ctimeMs && ino === facts.ino && dev === facts.dev
}

/** Brings one folder up to date; false when it is no folder any more. */
function refreshed(folder: KnownFolder, now: number, left: ReadonlySet<string>): boolean {
  const facts = factsOf(folder.at)
  if (facts?.isDirectory() !== true) return false
  if (isSame(folder, facts) && folder.settled) return true
  folder.ctimeMs = facts.ctimeMs
  folder.ino = facts.ino
  folder.dev = facts.dev
  folder.settled = now - facts.ctimeMs > TICK_MS
  readAgain(folder, left)
  return true
}

function readAgain(folder: KnownFolder, left: ReadonlySet<string>): void {
  const entries = entriesOf(folder.at)
  folder.readable = entries !== undefined
  const inner = new Map<string, KnownFolder>()
  const gitFiles: string[] = []
  const deeper: string[] = []
  const shape = new Set<string>()
  for (const entry of entries ?? []) {
    const { name } = entry
    const folded = foldedName(name)
    if (SHAPE_NAMES.has(folded)) shape.add(folded)
    if (left.has(folded)) continue
    const path = folder.path === '' ? name : `${folder.path}/${name}`
    const isGit = isGitName(name)
    if (folder.path !== '' && protectedEnd(path, folded) !== undefined) deeper.push(path)
    if (!entry.isDirectory()) {
      if (isGit) gitFiles.push(path)
      continue
    }
    if (folder.inGit && isGitStorage(name)) continue
    const known = folder.inner.get(name)
    const inGit = isGit || (folder.inGit && !isGitStorage(name))
    inner.set(name, known ?? unread(`${folder.at}/${name}`, path, inGit))
  }
  folder.inner = inner
  folder.gitFiles = gitFiles
  folder.deeper = deeper
  folder.isGit = isGitShape(shape) || isGitName(basename(folder.at))
}

function collect(folder: KnownFolder, found: Found): void {
  if (folder.isGit) found.gitFolders.push(folder.path)
  if (folder.gitFiles.length > 0) found.gitFiles.push(...folder.gitFiles)
  if (folder.deeper.length > 0) found.deeper.push(...folder.deeper)
}

const QUIETLY = { throwIfNoEntry: false } as const

function factsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, QUIETLY)
  } catch {
    return undefined
  }
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return undefined
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
