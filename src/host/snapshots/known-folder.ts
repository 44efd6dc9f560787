import type { Stats } from 'node:fs'
import type { IgnoreRules } from './ignore-rules.ts'
import { systemPath } from './names.ts'
import { folderObject, objectId, type Row, type OmittedPath } from './tree.ts'

/** What identifies the state of a file or folder that was read: no program can set a change time. */
export interface Stamp {
  readonly ctimeMs: number
  readonly ino: number
  readonly size: number
}

/** A file or link as it was last read. */
export interface KnownFile {
  readonly name: string
  /** Absolute. */
  readonly at: string | Buffer
  stamp: Stamp
  /** It had not just changed when it was read: another change can have the same time. */
  isStable: boolean
  row: Row
}

/** A folder as it was last listed. */
export interface KnownFolder {
  readonly name: string
  /** Relative to the root, which is `''`. */
  readonly path: string
  readonly at: string | Buffer
  readonly parent: KnownFolder | undefined
  stamp: Stamp
  mode: number
  isStable: boolean
  files: Map<string, KnownFile>
  inner: Map<string, KnownFolder>
  /** Entries that are not covered; ignored ones are not in its object. */
  uncoveredPaths: readonly OmittedPath[]
  /** Those of its `.gitignore`; for the root also those of the repository, which come last. */
  rules: readonly IgnoreRules[]
  /** Of the object that describes it with everything below; `undefined` after a change. */
  id: string | undefined
}

const NEVER: Stamp = { ctimeMs: -1, ino: 0, size: 0 }
/** The coarsest resolution of times in common file systems. */
const TICK_MS = 2_000

export function newFolder(root: string, path: string, parent?: KnownFolder): KnownFolder {
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    at: systemPath(path === '' ? root : `${root}/${path}`),
    parent,
    stamp: NEVER,
    mode: 0,
    isStable: false,
    files: new Map(),
    inner: new Map(),
    uncoveredPaths: [],
    rules: [],
    id: undefined,
  }
}

export function stampOf({ ctimeMs, ino, size }: Stats): Stamp {
  return { ctimeMs, ino, size }
}

/** `nowMs` is a time before it was read. */
export function isStableAt({ ctimeMs }: Stamp, nowMs: number): boolean {
  return nowMs - ctimeMs > TICK_MS
}

export function isSameStamp(one: Stamp, other: Stamp): boolean {
  return one.ctimeMs === other.ctimeMs && one.ino === other.ino && one.size === other.size
}

/** Everything above it describes something that changed. */
export function forgetObjects(folder: KnownFolder): void {
  for (let one: KnownFolder | undefined = folder; one !== undefined; one = one.parent)
    one.id = undefined
}

/** Has the whole tree below listed again, as after a change of rules. */
export function forgetListing(folder: KnownFolder): void {
  folder.isStable = false
  for (const inner of folder.inner.values()) forgetListing(inner)
}

/** Whether the rules of a folder and of those above it exclude one of its entries. */
export function isIgnored(folder: KnownFolder, name: string, isFolder: boolean): boolean {
  const path = folder.path === '' ? name : `${folder.path}/${name}`
  for (let one: KnownFolder | undefined = folder; one !== undefined; one = one.parent) {
    const below = one.path === '' ? path : path.slice(one.path.length + 1)
    for (const rules of one.rules) {
      const decision = rules.decide(below, isFolder)
      if (decision !== undefined) return decision
    }
  }
  return false
}

/** Every folder whose object is not known, the deepest first, with that object. */
export function* newObjects(root: KnownFolder): Generator<{ id: string; bytes: Buffer }> {
  for (const inner of root.inner.values()) if (inner.id === undefined) yield* newObjects(inner)
  const rows: Row[] = [...root.files.values()].map(({ row }) => row)
  for (const { name, mode, id } of root.inner.values())
    if (id !== undefined) rows.push([name, 'd', mode, id])
  for (const { path, why } of root.uncoveredPaths)
    if (why !== 'ignored' && path !== root.path)
      rows.push([path.slice(path.lastIndexOf('/') + 1), 'u', why])
  const bytes = folderObject(rows)
  root.id = objectId(bytes)
  yield { id: root.id, bytes }
}
