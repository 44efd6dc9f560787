import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { diskFolder } from '../files/disk.ts'
import { asHostResult, closing, FileFailure, ifThere, type Folder } from '../files/files.ts'
import { checkFolder, identifyFolder } from '../files/folder-identity.ts'
import type { Ids } from '../ids.ts'
import type { PathChange, SnapshotEntry as Entry } from '../../model/events/snapshot-entry.ts'
import { compareTrees } from './compare.ts'
import { GitObjects } from './git-objects.ts'
import { Packs } from './packs.ts'
import { entryAt, restorePaths, type RestoreOutcome, type RestoreStep } from './restore.ts'
import { sweepPacks, type SweepOrder } from './sweep-packs.ts'
import { readIndex, writeIndex } from './tree-index.ts'
import { objectId, pathObjects } from './tree.ts'
import { WorkspaceTree, type Pass } from './workspace-tree.ts'

/** Snapshots of one workspace, outside of it; see ADR 38. They contain exact bytes, and nothing of them is redacted. */
export interface Snapshots {
  /**
   * Takes a snapshot of the whole workspace. When it resolves, the snapshot is durable. `timeout` if the signal aborts first; the next one
   * continues where it stopped.
   */
  take(options?: TakeOptions): Promise<Result<Pass>>
  /** A snapshot of single paths. */
  capture(paths: readonly string[]): Promise<Result<string>>
  /** What differs between two snapshots. `not_found` if one of them is not stored any more. */
  changes(before: string, after: string): Promise<Result<readonly PathChange[]>>
  /** The content of a file; `undefined` if it is not stored. */
  content(sha256: string): Promise<Buffer | undefined>
  /** What is at these paths now; nothing is there if one is missing in the map. */
  entries(paths: readonly string[]): Promise<Result<ReadonlyMap<string, Entry>>>
  /** See `restorePaths`. `contentOf` has content from elsewhere. */
  restore(
    steps: readonly RestoreStep[],
    contentOf?: (sha256: string) => Promise<Buffer | undefined>,
  ): Promise<Result<RestoreReport>>
  /** Deletes what belongs to no snapshot that is mentioned; see `sweepPacks`. Returns the number of bytes. */
  sweep(order: SweepOrder): Promise<Result<number>>
}

export interface RestoreReport {
  readonly outcomes: ReadonlyMap<string, RestoreOutcome>
  /** Objects of git that a command overwrote, and that are not stored. */
  readonly lostObjects: readonly string[]
}

export interface TakeOptions {
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: (files: number) => void
}

export interface SnapshotPlace {
  readonly workspace: string
  readonly identity?: FolderIdentity | undefined
  /** `$HAWSER_HOME` */
  readonly home: string
  readonly ids: Pick<Ids, 'temporary'>
}

/** Opens nothing yet. Calls of one object run one after another. */
export function workspaceSnapshots(place: SnapshotPlace): Snapshots {
  let known: KnownStore | undefined
  let queue: Promise<unknown> = Promise.resolve()
  const inStore = <T>(doing: string, work: (store: Store) => Promise<Result<T>>) => {
    const next = queue.then(() =>
      asHostResult(doing, async () => {
        const there =
          place.identity === undefined ? ok(undefined) : await checkFolder(place.identity)
        if (!there.ok) return there
        const root = await rootOf(place)
        if (!root.ok) return root
        return closing(await openFolder(place.home, root.value, known), async (folder) => {
          if (known !== undefined) known.packs.folder = folder
          if (known === undefined || !(await known.packs.areComplete()))
            known = await openStore(place, root.value, folder)
          return work({ ...known, folder, save: (changed) => void (known = changed) })
        })
      }),
    )
    queue = next.catch(() => {})
    return next
  }
  return {
    take: (options = {}) => inStore('take a snapshot', (store) => take(store, place, options)),
    capture: (paths) =>
      inStore('store the current files', async ({ root, packs }) => {
        const entries = new Map<string, Entry | undefined>()
        for (const path of paths) {
          const { entry, bytes } = await entryAt(root, path)
          entries.set(path, entry)
          if (entry?.kind === 'file' && bytes !== undefined) await packs.add(entry.sha256, bytes)
        }
        const objects = pathObjects(entries)
        for (const object of objects) await packs.add(objectId(object), object)
        await packs.flush()
        return ok(objectId(objects.at(-1) ?? Buffer.alloc(0)))
      }),
    changes: (before, after) =>
      inStore('compare snapshots', async ({ packs }) => {
        const changes = await compareTrees(packs, before, after)
        if (changes !== undefined) return ok(changes)
        return failed('not_found', 'The snapshots of that time are not stored any more.')
      }),
    content: async (sha256) => {
      const found = await inStore('read a snapshot', async (store) =>
        ok(await store.packs.get(sha256)),
      )
      return found.ok ? found.value : undefined
    },
    entries: (paths) =>
      inStore('read files', async ({ root }) => {
        const entries = new Map<string, Entry>()
        for (const path of paths) {
          const { entry } = await entryAt(root, path)
          if (entry !== undefined) entries.set(path, entry)
        }
        return ok(entries)
      }),
    restore: (steps, elsewhere = async () => undefined) =>
      inStore('restore files', async ({ root, packs, objects }) => {
        const contentOf = async (id: string) => (await packs.get(id)) ?? elsewhere(id)
        const outcomes = await restorePaths(root, steps, contentOf)
        const isOfGit = steps.some(({ path, to }) => path.startsWith('.git/') && to !== undefined)
        return ok({ outcomes, lostObjects: isOfGit ? await objects.restore() : [] })
      }),
    sweep: (order) =>
      inStore('sweep the snapshots', async ({ packs, folder, objects }) => {
        const { bytes, isMentioned } = await sweepPacks(packs, folder, order)
        return ok(bytes + (await objects.sweep({ ...order, isMentioned })))
      }),
  }
}

/** What this process knows of the store. */
interface KnownStore {
  /** The real path of the workspace. */
  readonly root: string
  readonly packs: Packs
  readonly tree: WorkspaceTree
  readonly objects: GitObjects
  /** Files that were read since the index was written. */
  readonly unsavedFiles: number
  /** Why no snapshot is tried again. */
  readonly full?: FileFailure
}

interface Store extends KnownStore {
  readonly folder: Folder
  readonly save: (changed: KnownStore) => void
}

/** An index that is this much behind costs the next process a few milliseconds. */
const MOST_UNSAVED = 200

async function take(
  store: Store,
  { home, ids }: SnapshotPlace,
  { signal, onProgress }: TakeOptions,
): Promise<Result<Pass>> {
  const progress = onProgress === undefined ? {} : { onProgress }
  const { root, folder, packs, tree, objects, full, save } = store
  if (full !== undefined) throw full
  try {
    const left = await objects.keep()
    const pass = await tree.pass({ skippedPaths: [home], signal, ...progress })
    const unsaved = store.unsavedFiles + (pass?.read ?? MOST_UNSAVED)
    const isBehind = unsaved >= MOST_UNSAVED
    if (isBehind) await writeIndex(folder, tree.root, ids.temporary())
    save({ root, packs, objects, tree, unsavedFiles: isBehind ? 0 : unsaved })
    if (pass === undefined) return failed('timeout', 'The snapshot was not completed in time.')
    const apart = left.map((path) => ({ path, why: 'too_large' }) as const)
    return ok({ ...pass, uncoveredPaths: [...pass.uncoveredPaths, ...apart] })
  } catch (error) {
    // What it knows may not be stored.
    const isFull = error instanceof FileFailure && error.code === 'STORE_FULL'
    save({
      root,
      packs,
      objects,
      tree: new WorkspaceTree(root, packs),
      unsavedFiles: 0,
      ...(isFull ? { full: error } : {}),
    })
    await packs.abandon()
    throw error
  }
}

async function openStore(place: SnapshotPlace, root: string, folder: Folder): Promise<KnownStore> {
  const packs = new Packs(folder, place.ids)
  const tree = new WorkspaceTree(root, packs, await readIndex(folder, root))
  await packs.refresh()
  const objects = new GitObjects(root, join(storePath(place.home, root), 'git'))
  return { root, packs, tree, objects, unsavedFiles: 0 }
}

async function rootOf({ workspace, identity }: SnapshotPlace): Promise<Result<string>> {
  const found = identity === undefined ? await identifyFolder(workspace) : ok(identity)
  return found.ok ? ok(found.value.path) : found
}

/** Creates it at the first use, durably: that waits for the disk, even if it exists. */
async function openFolder(
  home: string,
  root: string,
  known: KnownStore | undefined,
): Promise<Folder> {
  const opened = known && (await ifThere(storeFolder(home, root, 'open')))
  return opened ?? storeFolder(home, root, 'create')
}

async function storeFolder(home: string, root: string, mode: 'open' | 'create'): Promise<Folder> {
  return closing(await diskFolder(home), async (own) =>
    closing(await own.folder(ALL, mode), (all) => all.folder(storeName(root), mode)),
  )
}

const ALL = 'snapshots'

function storePath(home: string, root: string): string {
  return join(home, ALL, storeName(root))
}

function storeName(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 32)
}
