import * as z from 'zod'
import { ifThere, closing, readSpan, replaceDerivedFile, type Folder } from '../files/files.ts'
import { newFolder, type KnownFolder } from './known-folder.ts'
import { systemPath } from './names.ts'
import { objectId, type Row } from './tree.ts'
import { rulesOf } from './workspace-tree.ts'

const NAME = 'index'
const VERSION = 1

type StampNode = readonly [ctimeMs: number, ino: number, size: number]

interface FolderNode {
  readonly name: string
  readonly stamp: StampNode
  readonly mode: number
  readonly isStable: boolean
  readonly id?: string
  readonly files: readonly (readonly [row: Row, stamp: StampNode, isStable: boolean])[]
  readonly uncoveredPaths: KnownFolder['uncoveredPaths']
  readonly inner: readonly FolderNode[]
}

const Index = z.object({
  version: z.literal(VERSION),
  /** The packs that its objects are in. */
  packs: z.array(z.string()),
  // The hash of the file says that this version wrote it; a schema for every file would cost more than reading them.
  root: z.custom<FolderNode>((value) => typeof value === 'object' && value !== null),
})

/** What the last process knew of a workspace; `undefined` if it is missing, damaged, or names packs that are gone. */
export async function readIndex(folder: Folder, root: string): Promise<KnownFolder | undefined> {
  const file = await ifThere(folder.open(NAME, 'read'))
  if (file === undefined) return undefined
  const bytes = await closing(file, async () => readSpan(file, 0, (await file.stat()).size))
  const text = bytes.subarray(HASH_BYTES)
  if (bytes.toString('latin1', 0, HASH_BYTES) !== objectId(text)) return undefined
  const index = Index.safeParse(parse(text)).data
  if (index === undefined) return undefined
  const names = new Set(await folder.names())
  return index.packs.every((name) => names.has(name)) ? folderOf(root, index.root) : undefined
}

/** Without waiting for the disk: it can be derived again. */
export async function writeIndex(
  folder: Folder,
  root: KnownFolder,
  temporary: string,
): Promise<void> {
  const packs = (await folder.names()).filter((name) => name.endsWith('.pack'))
  const index: z.infer<typeof Index> = { version: VERSION, packs, root: nodeOf(root) }
  const text = Buffer.from(JSON.stringify(index))
  const bytes = Buffer.concat([Buffer.from(objectId(text), 'latin1'), text])
  await replaceDerivedFile(folder, NAME, bytes, temporary)
}

const HASH_BYTES = 64

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    return undefined
  }
}

function nodeOf(folder: KnownFolder): FolderNode {
  const { name, mode, isStable, id, files, inner, uncoveredPaths } = folder
  return {
    name,
    stamp: stampNode(folder),
    mode,
    isStable,
    ...(id === undefined ? {} : { id }),
    files: [...files.values()].map((file) => [file.row, stampNode(file), file.isStable]),
    uncoveredPaths: [...uncoveredPaths],
    inner: [...inner.values()].map(nodeOf),
  }
}

function stampNode({ stamp: { ctimeMs, ino, size } }: Pick<KnownFolder, 'stamp'>): StampNode {
  return [ctimeMs, ino, size]
}

function folderOf(root: string, node: FolderNode, parent?: KnownFolder): KnownFolder {
  const path = parent === undefined ? '' : below(parent.path, node.name)
  const folder = newFolder(root, path, parent)
  const { mode, isStable, id, uncoveredPaths } = node
  Object.assign(folder, { stamp: stampFrom(node.stamp), mode, isStable, id, uncoveredPaths })
  for (const [row, stamp, isSame] of node.files) {
    const at = systemPath(`${root}/${below(path, row[0])}`)
    folder.files.set(row[0], { name: row[0], at, stamp: stampFrom(stamp), isStable: isSame, row })
  }
  folder.rules = rulesOf(root, folder, folder.files)
  for (const inner of node.inner) folder.inner.set(inner.name, folderOf(root, inner, folder))
  return folder
}

function stampFrom([ctimeMs, ino, size]: StampNode): KnownFolder['stamp'] {
  return { ctimeMs, ino, size }
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`
}
