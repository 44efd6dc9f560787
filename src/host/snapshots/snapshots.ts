import { createHash } from 'node:crypto'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { failed, ok, type Result } from '../../model/errors.ts'
import { diskFolder } from '../files/disk.ts'
import { asHostResult, closing, type Folder } from '../files/files.ts'
import { checkFolder, identifyFolder } from '../files/folder-identity.ts'
import type { Ids } from '../ids.ts'
import { compareTrees, type PathChange } from './compare.ts'
import { Packs } from './packs.ts'
import { entryAt, restorePaths, type RestoreOutcome, type RestoreStep } from './restore.ts'
import { readIndex, writeIndex } from './tree-index.ts'
import { objectId, pathObjects, type Entry } from './tree.ts'
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
  /** What is at a path now. */
  entry(path: string): Promise<Result<Entry | undefined>>
  /** See `restorePaths`. `contentOf` has content from elsewhere. */
  restore(
    steps: readonly RestoreStep[],
    contentOf?: (sha256: string) => Promise<Buffer | undefined>,
  ): Promise<Result<ReadonlyMap<string, RestoreOutcome>>>
}

export interface TakeOptions {
  readonly signal?: AbortSignal | undefined
  onProgress?(files: number): void
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
  let opening: Promise<Store> | undefined
  let queue: Promise<unknown> = Promise.resolve()
  const inStore = <T>(doing: string, work: (store: Store) => Promise<Result<T>>) => {
    const next = queue.then(() =>
      asHostResult(doing, async () => {
        opening ??= openStore(place)
        const store = await opening.catch((error: unknown) => {
          opening = undefined
          throw error
        })
        const there = place.identity === undefined ? ok(undefined) : await checkFolder(place.identity)
        return there.ok ? work(store) : there
      }),
    )
    queue = next.catch(() => {})
    return next
  }
  const content = async (store: Store, id: string) => store.packs.get(id)
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
      const found = await inStore('read a snapshot', async (store) => ok(await content(store, sha256)))
      return found.ok ? found.value : undefined
    },
    entry: (path) =>
      inStore('read a file', async ({ root }) => ok((await entryAt(root, path)).entry)),
    restore: (steps, elsewhere = async () => undefined) =>
      inStore('restore files', async (store) =>
        ok(
          await restorePaths(
            store.root,
            steps,
            async (id) => (await content(store, id)) ?? elsewhere(id),
          ),
        ),
      ),
  }
}

interface Store {
  /** The real path of the workspace. */
  readonly root: string
  readonly folder: Folder
  readonly packs: Packs
  tree: WorkspaceTree
  /** Files that were read since the index was written. */
  unsaved: number
}

/** An index that is this much behind costs the next process a few milliseconds. */
const MOST_UNSAVED = 200

async function take(
  store: Store,
  { home, ids }: SnapshotPlace,
  { signal, onProgress }: TakeOptions,
): Promise<Result<Pass>> {
  const progress = onProgress === undefined ? {} : { onProgress }
  try {
    const pass = await store.tree.pass({ skipped: [home], signal, ...progress })
    store.unsaved += pass?.read ?? MOST_UNSAVED
    if (store.unsaved >= MOST_UNSAVED) {
      await writeIndex(store.folder, store.tree.root, ids.temporary())
      store.unsaved = 0
    }
    return pass === undefined ? failed('timeout', 'The snapshot was not completed in time.') : ok(pass)
  } catch (error) {
    // What it knows may not be stored.
    store.tree = new WorkspaceTree(store.root, store.packs)
    await store.packs.abandon()
    throw error
  }
}

async function openStore({ workspace, identity, home, ids }: SnapshotPlace): Promise<Store> {
  const found = identity ?? (await identifyFolder(workspace))
  const root = 'path' in found ? found.path : found.ok ? found.value.path : workspace
  const folder = await storeFolder(home, root)
  const packs = new Packs(folder, ids)
  const known = await readIndex(folder, root)
  await packs.refresh()
  return { root, folder, packs, tree: new WorkspaceTree(root, packs, known), unsaved: 0 }
}

/** Stays open as long as the process. */
async function storeFolder(home: string, root: string): Promise<Folder> {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32)
  return closing(await diskFolder(home), async (own) =>
    closing(await own.folder('snapshots', 'create'), (all) => all.folder(name, 'create')),
  )
}
