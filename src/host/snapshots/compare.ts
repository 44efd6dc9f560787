import {
  isSameEntry,
  type PathChange,
  type SnapshotEntry as Entry,
} from '../../model/events/snapshot-entry.ts'
import type { Packs } from './packs.ts'
import { entryOf, ON_THE_WAY, rowsOf, type Row } from './tree.ts'

/** What differs from one tree to another, in the order of paths; `undefined` if one of them is not stored completely. */
export async function compareTrees(
  packs: Pick<Packs, 'get'>,
  before: string,
  after: string,
): Promise<readonly PathChange[] | undefined> {
  const changes: PathChange[] = []
  const isWhole = await compareFolders(packs, { before, after, path: '' }, changes)
  return isWhole ? changes : undefined
}

interface FolderPair {
  readonly path: string
  /** Ids of objects; absent for a missing folder. */
  readonly before?: string | undefined
  readonly after?: string | undefined
}

async function compareFolders(
  packs: Pick<Packs, 'get'>,
  { before, after, path }: FolderPair,
  into: PathChange[],
): Promise<boolean> {
  if (before === after) return true
  const [old, now] = await Promise.all([rowsBy(packs, before), rowsBy(packs, after)])
  if (old === undefined || now === undefined) return false
  for (const name of [...new Set([...old.keys(), ...now.keys()])].toSorted()) {
    const [was, is] = [old.get(name), now.get(name)]
    const at = path === '' ? name : `${path}/${name}`
    const pair = { path: at, before: folderId(was), after: folderId(is) }
    const entries = { before: knownEntry(was), after: knownEntry(is) }
    const isCovered = [entries.before, entries.after].some(
      (entry) => entry !== undefined && entry.kind !== 'uncovered',
    )
    if (isCovered && !isSameEntry(entries.before, entries.after)) into.push(changeOf(at, entries))
    if (pair.before === undefined && pair.after === undefined) continue
    if (!(await compareFolders(packs, pair, into))) return false
  }
  return true
}

function changeOf(
  path: string,
  { before, after }: { before: Entry | undefined; after: Entry | undefined },
): PathChange {
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  }
}

/** A tree of single paths does not say what the folders on the way to them were. */
function knownEntry(row: Row | undefined): Entry | undefined {
  return row === undefined || (row[1] === 'd' && row[2] === ON_THE_WAY) ? undefined : entryOf(row)
}

function folderId(row: Row | undefined): string | undefined {
  return row?.[1] === 'd' ? row[3] : undefined
}

async function rowsBy(
  packs: Pick<Packs, 'get'>,
  id: string | undefined,
): Promise<ReadonlyMap<string, Row> | undefined> {
  if (id === undefined) return new Map()
  const object = await packs.get(id)
  const rows = object && rowsOf(object)
  return rows && new Map(rows.map((row) => [row[0], row]))
}
