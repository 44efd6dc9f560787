import { createHash } from 'node:crypto'
import * as z from 'zod'
import {
  UNCOVERED_REASONS,
  type SnapshotEntry as Entry,
  type UncoveredReason,
} from '../../model/events/snapshot-entry.ts'

export interface OmittedPath {
  readonly path: string
  readonly why: UncoveredReason
}

/** An entry of a folder as its object has it. An inner folder names its own object. */
const Row = z.union([
  z.tuple([z.string(), z.literal('f'), z.number(), z.number(), z.string()]),
  z.tuple([z.string(), z.literal('l'), z.string()]),
  z.tuple([z.string(), z.literal('d'), z.number(), z.string()]),
  z.tuple([z.string(), z.literal('u'), z.enum(UNCOVERED_REASONS)]),
])
export type Row = z.infer<typeof Row>

const Rows = z.array(Row)

/** The object of a folder. Its rows are in the order of their names, so that equal folders have equal objects. */
export function folderObject(rows: readonly Row[]): Buffer {
  return Buffer.from(JSON.stringify(rows.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** Undefined if the bytes are not the object of a folder. */
export function rowsOf(object: Buffer): readonly Row[] | undefined {
  try {
    return Rows.safeParse(JSON.parse(object.toString('utf8'))).data
  } catch {
    return undefined
  }
}

/** The mode of a folder of which only some entries are known. */
export const ON_THE_WAY = -1

/** The objects of a tree of single paths, the root last. */
export function pathObjects(entries: ReadonlyMap<string, Entry | undefined>): readonly Buffer[] {
  const objects: Buffer[] = []
  const write = (prefix: string, paths: readonly string[]): string => {
    const below = new Map<string, string[]>()
    for (const path of paths) {
      const name = nameIn(prefix, path)
      const known = below.get(name)
      if (known === undefined) below.set(name, [path])
      else known.push(path)
    }
    const rows = [...below].flatMap(([name, all]): Row[] => {
      const path = prefix + name
      const inner = all.filter((one) => one !== path)
      const id = inner.length === 0 ? undefined : write(`${path}/`, inner)
      const entry = entries.get(path)
      if (entry !== undefined && entry.kind !== 'folder') return [rowOf(name, entry)]
      if (entry === undefined && id === undefined) return []
      return [[name, 'd', entry?.mode ?? ON_THE_WAY, id ?? emptyFolder()]]
    })
    const object = folderObject(rows)
    objects.push(object)
    return objectId(object)
  }
  const emptyFolder = () => {
    objects.push(folderObject([]))
    return objectId(folderObject([]))
  }
  write(
    '',
    [...entries].flatMap(([path, entry]) => (entry === undefined ? [] : [path])),
  )
  return objects
}

/** The name of the entry of a folder that leads to a path below it. */
function nameIn(prefix: string, path: string): string {
  const end = path.indexOf('/', prefix.length)
  return path.slice(prefix.length, end === -1 ? undefined : end)
}

function rowOf(name: string, entry: Exclude<Entry, { readonly kind: 'folder' }>): Row {
  if (entry.kind === 'file') return [name, 'f', entry.mode, entry.size, entry.sha256]
  return entry.kind === 'link' ? [name, 'l', entry.target] : [name, 'u', entry.why]
}

export function entryOf(row: Row): Entry {
  switch (row[1]) {
    case 'f':
      return { kind: 'file', mode: row[2], size: row[3], sha256: row[4] }
    case 'l':
      return { kind: 'link', target: row[2] }
    case 'd':
      return { kind: 'folder', mode: row[2] }
    case 'u':
      return { kind: 'uncovered', why: row[2] }
    default:
      return row satisfies never
  }
}

export function objectId(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
