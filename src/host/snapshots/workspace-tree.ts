import { foldedName, isHawserName } from '../../model/safety/folded-name.ts'
import { nextRound } from '../wait.ts'
import { ignoreRules, type IgnoreRules } from './ignore-rules.ts'
import {
  forgetListing,
  forgetObjects,
  isIgnored,
  isSameStamp,
  isStableAt,
  newFolder,
  newObjects,
  stampOf,
  type KnownFile,
  type KnownFolder,
} from './known-folder.ts'
import { nameOf, systemPath } from './names.ts'
import type { Packs } from './packs.ts'
import { entriesOf, factsOf, MOST_FILE_BYTES, readCovered, targetOf } from './read-entry.ts'
import type { UncoveredReason } from '../../model/events/snapshot-entry.ts'
import { objectId, type Row, type OmittedPath } from './tree.ts'

/** One pass over the workspace. */
export interface Pass {
  /** The id of the tree. */
  readonly tree: string
  readonly uncoveredPaths: readonly OmittedPath[]
  /** Files and links, without those of the repository. */
  readonly files: number
  /** How many of them were read. */
  readonly read: number
}

export interface PassOptions {
  /** Absolute paths that are never entered. */
  readonly skippedPaths: readonly string[]
  /** Stops a pass that takes long. What was read until then is stored, and the next pass continues. */
  readonly signal?: AbortSignal | undefined
  /** The number of files so far. */
  readonly onProgress?: (files: number) => void
}

/**
 * Knows the covered files of one workspace, so that a pass reads only what changed. Its own memory says what is stored: if
 * objects may be missing, it must be dropped.
 */
export class WorkspaceTree {
  readonly #path: string
  readonly #packs: Packs
  readonly root: KnownFolder
  #slice = 0
  #files = 0
  #read = 0
  #nowMs = 0

  constructor(path: string, packs: Packs, root = newFolder(path, '')) {
    this.#path = path
    this.#packs = packs
    this.root = root
  }

  /** Stores what changed since the last pass; `undefined` if it was stopped. Throws a `FileFailure`, also for a missing root. */
  async pass(options: PassOptions): Promise<Pass | undefined> {
    this.#files = 0
    this.#read = 0
    this.#nowMs = Date.now()
    const isWhole = await this.#visit(this.root, options)
    if (isWhole)
      for (const { id, bytes } of this.#changedObjects()) await this.#packs.add(id, bytes)
    await this.#packs.flush()
    const { id } = this.root
    if (!isWhole || id === undefined) return undefined
    const uncovered: OmittedPath[] = []
    collectUncovered(this.root, uncovered)
    return { tree: id, uncoveredPaths: uncovered, files: this.#files, read: this.#read }
  }

  #changedObjects(): Iterable<{ id: string; bytes: Buffer }> {
    return this.root.id === undefined ? newObjects(this.root) : []
  }

  /** False if the pass was stopped. */
  async #visit(folder: KnownFolder, options: PassOptions): Promise<boolean> {
    if (isStopped(options)) return false
    const facts = factsOf(folder.at)
    if (facts === undefined) {
      loseFolder(folder)
      return true
    }
    const stamp = stampOf(facts)
    const mode = facts.mode & 0o777
    if (mode !== folder.mode) forgetObjects(folder)
    folder.mode = mode
    if (!folder.isStable || !isSameStamp(stamp, folder.stamp)) {
      folder.stamp = stamp
      folder.isStable = isStableAt(stamp, this.#nowMs)
      // What cannot be listed stays as it was known, and is reported.
      if (!(await this.#list(folder, options))) return true
    }
    const isOfGit = folder.path === '.git' || folder.path.startsWith('.git/')
    for (const file of folder.files.values()) {
      if (!isOfGit) this.#files += 1
      if (++this.#slice % FILES_PER_SLICE === 0) {
        await this.#pause(options)
        if (isStopped(options)) return false
      }
      if (!isUnchanged(file)) await this.#refresh(folder, file)
    }
    for (const inner of folder.inner.values())
      if (!(await this.#visit(inner, options))) return false
    return true
  }

  async #pause({ onProgress }: PassOptions): Promise<void> {
    onProgress?.(this.#files)
    await nextRound()
  }

  /** Takes over what it knows of entries that stay. False if the folder cannot be listed. */
  async #list(folder: KnownFolder, { skippedPaths }: PassOptions): Promise<boolean> {
    const entries = entriesOf(folder.at)
    if (entries === undefined) {
      folder.isStable = false
      folder.uncoveredPaths = [{ path: folder.path, why: 'unreadable' }]
      return false
    }
    const { files, inner } = folder
    const was = JSON.stringify(folder.uncoveredPaths)
    const uncovered: OmittedPath[] = []
    folder.files = new Map()
    folder.inner = new Map()
    const leave = (path: string, why: UncoveredReason) => void uncovered.push({ path, why })
    const named = entries.map((entry) => ({ entry, name: nameOf(entry.name) }))
    folder.rules = rulesOf(this.#path, folder, new Set(named.map(({ name }) => name)))
    for (const { entry, name } of named) {
      const path = folder.path === '' ? name : `${folder.path}/${name}`
      const at = `${this.#path}/${path}`
      if (isHawserName(name) || skippedPaths.includes(at)) continue
      const isFolder = entry.isDirectory()
      const verdict = coverageOf(folder, name, isFolder)
      if (verdict === 'skip') continue
      const known = isFolder ? inner.get(name) : files.get(name)
      // What was covered once stays covered: no command hides a change by a new rule or a new repository.
      if (verdict === 'repository' || (verdict === 'ignored' && known === undefined)) {
        leave(path, verdict)
      } else if (isFolder) {
        const isNested = known === undefined && isRepository(systemPath(at))
        if (isNested) leave(path, 'repository')
        else folder.inner.set(name, inner.get(name) ?? newFolder(this.#path, path, folder))
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        folder.files.set(name, files.get(name) ?? newFile(name, systemPath(at)))
      } else leave(path, 'not_regular_file')
    }
    folder.uncoveredPaths = uncovered
    const isSame =
      isSameNames(files, folder.files) &&
      isSameNames(inner, folder.inner) &&
      was === JSON.stringify(uncovered)
    if (!isSame) forgetObjects(folder)
    return true
  }

  /** Reads a file again if it may have changed. */
  async #refresh(folder: KnownFolder, file: KnownFile): Promise<void> {
    const facts = factsOf(file.at)
    const found = facts && (await this.#rowOf(file, facts))
    if (found === undefined || found === 'gone') {
      folder.files.delete(file.name)
      // It will be listed again: an entry of another kind may be in its place.
      folder.isStable = false
      return forgetObjects(folder)
    }
    const isChanged = JSON.stringify(found.row) !== JSON.stringify(file.row)
    file.stamp = found.stamp
    file.isStable = isStableAt(found.stamp, this.#nowMs)
    file.row = found.row
    if (!isChanged) return
    forgetObjects(folder)
    if (file.name === RULES || `${folder.path}/${file.name}` === '.git/info/exclude')
      forgetListing(file.name === RULES ? folder : this.root)
  }

  async #rowOf(
    { name, at }: KnownFile,
    facts: NonNullable<ReturnType<typeof factsOf>>,
  ): Promise<{ row: Row; stamp: KnownFile['stamp'] } | 'gone'> {
    const stamp = stampOf(facts)
    if (facts.isSymbolicLink()) {
      const target = targetOf(at)
      return target === undefined ? 'gone' : { row: [name, 'l', target], stamp }
    }
    if (!facts.isFile()) return 'gone'
    if (facts.size > MOST_FILE_BYTES) return { row: [name, 'u', 'too_large'], stamp }
    const content = readCovered(at)
    if ('why' in content)
      return content.why === 'gone' ? 'gone' : { row: [name, 'u', content.why], stamp }
    this.#read += 1
    if (content.bytes.length > LARGE_BYTES) await nextRound()
    const id = objectId(content.bytes)
    await this.#packs.add(id, content.bytes)
    const row: Row = [name, 'f', content.facts.mode & 0o777, content.bytes.length, id]
    return { row, stamp: stampOf(content.facts) }
  }
}

function isStopped({ signal }: PassOptions): boolean {
  return signal?.aborted === true
}

const RULES = '.gitignore'
const FILES_PER_SLICE = 1_000
const LARGE_BYTES = 1024 * 1024
/** A longer one has no effect. */
const MOST_RULE_BYTES = 1024 * 1024

function isUnchanged({ at, stamp, isStable }: KnownFile): boolean {
  const facts = isStable ? factsOf(at) : undefined
  return facts !== undefined && isSameStamp(stampOf(facts), stamp)
}

/** It disappeared after its folder was listed. */
function loseFolder({ name, parent }: KnownFolder): void {
  if (parent === undefined) return
  parent.inner.delete(name)
  parent.isStable = false
  forgetObjects(parent)
}

function newFile(name: string, at: string | Buffer): KnownFile {
  const stamp = { ctimeMs: -1, ino: 0, size: 0 }
  return { name, at, stamp, isStable: false, row: [name, 'u', 'unreadable'] }
}

/** `.git` of the workspace is covered in part; any other one belongs to a nested repository. */
function coverageOf(
  folder: KnownFolder,
  name: string,
  isFolder: boolean,
): 'covered' | 'ignored' | 'repository' | 'skip' {
  const { path } = folder
  if (path === '.git' && isFolder && GIT_NESTED.has(name)) return 'repository'
  // The objects themselves are kept apart.
  if (path === '.git/objects' && name !== 'info') return 'skip'
  if (path === '.git' || path.startsWith('.git/'))
    return name.endsWith('.lock') ? 'skip' : 'covered'
  if (foldedName(name) === '.git') return path === '' ? 'covered' : 'repository'
  return isIgnored(folder, name, isFolder) ? 'ignored' : 'covered'
}

/** Repositories of submodules, and the store of large files. */
const GIT_NESTED: ReadonlySet<string> = new Set(['modules', 'lfs'])

function isRepository(path: string | Buffer): boolean {
  const entries = entriesOf(path) ?? []
  return entries.some(({ name }) => name.length <= 16 && foldedName(nameOf(name)) === '.git')
}

/** The rules of a folder, for the root also those of the repository. They must be known before entries are judged. */
export function rulesOf(
  root: string,
  { path, parent }: KnownFolder,
  names: Pick<ReadonlySet<string>, 'has'>,
): readonly IgnoreRules[] {
  const own = names.has(RULES) ? rulesAt(systemPath(join(root, path, RULES))) : []
  const isRoot = parent === undefined
  return isRoot ? [...own, ...rulesAt(systemPath(join(root, '.git/info/exclude')))] : own
}

function rulesAt(path: string | Buffer): readonly IgnoreRules[] {
  const content = readCovered(path)
  if ('why' in content || content.bytes.length > MOST_RULE_BYTES) return []
  const rules = ignoreRules(content.bytes)
  return rules === undefined ? [] : [rules]
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('/')
}

function isSameNames(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>) {
  return one.size === other.size && [...one.keys()].every((name) => other.has(name))
}

function collectUncovered(folder: KnownFolder, into: OmittedPath[]): void {
  into.push(...folder.uncoveredPaths)
  for (const { row } of folder.files.values()) {
    if (row[1] === 'u') {
      const path = folder.path === '' ? row[0] : `${folder.path}/${row[0]}`
      into.push({ path, why: row[2] })
    }
  }
  for (const inner of folder.inner.values()) collectUncovered(inner, into)
}
