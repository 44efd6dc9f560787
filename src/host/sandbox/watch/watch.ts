import { dirname, join } from 'node:path'
import { rootPaths } from '../../../model/safety/protected-paths.ts'
import { FolderIndex } from './folder-index.ts'
import { gitPlacesIn, type GitPlace } from './git-look.ts'
import { offence } from './judge.ts'
import { protectedPlaces, type ProtectedPlace } from './protected-places.ts'

/** Something protected, as one look found it. */
export interface WatchedPlace extends ProtectedPlace {
  /** Present for what git reads. */
  readonly git?: GitPlace
  /** The sandbox keeps a command from changing it: if it changed, somebody else did that. */
  readonly held: boolean
}

/** One look at everything that is protected. */
export interface Watch {
  /** The workspace, without links. */
  readonly root: string
  readonly places: readonly WatchedPlace[]
  /** Files that run later and are ordinary work, with what changes when they do. */
  readonly named: ReadonlyMap<string, string>
}

/** What a command left behind. */
export interface Finding {
  readonly path: string
  /** Why it cannot stay. */
  readonly why: string
  /** What to put in its place: the link, or the content, that was there. */
  readonly earlier: { readonly target?: string; readonly text?: string }
}

export interface WatchOptions {
  /** From the root of the workspace. */
  readonly paths: readonly string[]
  /** The repository's own git directory, where it lies outside of the workspace. */
  readonly gitDirectories: readonly string[]
  /** Names at the root that are not entered. */
  readonly left: readonly string[]
}

/** Looks at a workspace. The first look of this process at a workspace reads all of it, later ones what changed. */
export async function watchOver(root: string, options: WatchOptions): Promise<Watch> {
  const known = indexOf(root, options.left)
  const [look, own, named] = await Promise.all([
    known.index.look(),
    protectedPlaces(root, options.paths),
    protectedPlaces(root, rootPaths('named')),
  ])
  const outer = await Promise.all(
    options.gitDirectories.map(async (directory) => {
      const inside = gitPlacesIn(directory, await indexOf(directory, []).index.look())
      return inside.map((place) => ({
        ...place,
        path: join(directory, place.path),
        folder: join(directory, place.folder),
        by: place.by && join(directory, place.by),
      }))
    }),
  )
  const git = heldFirst([...gitPlacesIn(root, look), ...outer.flat()], known.made)
  const unread = look.unread.map((path) => missing(path, 'folder'))
  return {
    root,
    places: [...own.map((place) => ({ ...place, held: true })), ...git, ...unread],
    named: new Map([
      ...named.map(({ path, stamp }) => [path, stamp] as const),
      ...look.deeper.map((path) => [path, ''] as const),
    ]),
  }
}

/** What came to stand at protected paths between two looks and cannot stay. */
export function findingsBetween(before: Watch, after: Watch, options: WatchOptions): Finding[] {
  const earlier = new Map(before.places.map((place) => [place.path, place]))
  const known = new Set(earlier.keys())
  const changed = after.places.filter((place) => isChanged(earlier, place))
  const folders = gitFoldersOf(before)
  const fresh = new Set(changed.map(({ path }) => path))
  const all = after.places.flatMap(({ git }) => (git === undefined ? [] : [git]))
  const inside = [after.root, ...options.gitDirectories]
  return changed.flatMap((place) => {
    const was = earlier.get(place.path)
    const { git } = place
    // Judged with what points to it.
    if (git?.by !== undefined && fresh.has(git.by)) return []
    const ground = { root: after.root, inside, earlier: was?.git, all, known, folders }
    const why = git === undefined ? 'it is protected' : offence(git, ground)
    if (why === undefined) return []
    const target = was?.target === undefined ? {} : { target: was.target }
    const text = was?.git?.text === undefined ? {} : { text: was.git.text }
    return [{ path: place.path, why, earlier: { ...target, ...text } }]
  })
}

/** Git directories that a command made and that stay are its own: later commands may change and remove them. */
export function rememberMade(before: Watch, after: Watch): void {
  const there = gitFoldersOf(before)
  const { made } = indexOf(after.root, [])
  for (const { git } of after.places) {
    if (git !== undefined && !there.has(git.folder)) made.add(git.folder)
  }
}

/** Files that run later and that a command made or changed; they are ordinary work, and stay. */
export function namedBetween(before: Watch, after: Watch): readonly string[] {
  return [...after.named]
    .filter(([path, stamp]) => before.named.get(path) !== stamp)
    .map(([path]) => path)
}

function gitFoldersOf({ places }: Watch): ReadonlySet<string> {
  return new Set(places.flatMap(({ git }) => (git === undefined ? [] : [git.folder])))
}

function isChanged(earlier: ReadonlyMap<string, WatchedPlace>, now: WatchedPlace): boolean {
  const before = earlier.get(now.path)
  if (before === undefined) {
    return earlier.get(dirname(now.path))?.held !== true
  }
  if (before.kind !== 'symlink' && before.held) return false
  if (before.id !== now.id || before.target !== now.target) return true
  return now.kind === 'file' && before.stamp !== now.stamp
}

interface KnownTree {
  readonly index: FolderIndex
  /** Git directories that commands of this process made, from the root. */
  readonly made: Set<string>
}

const TREES = new Map<string, KnownTree>()
/** Workspaces of one process whose folders are remembered. */
const MOST_TREES = 16

function indexOf(root: string, left: readonly string[]): KnownTree {
  const known = TREES.get(root)
  if (known !== undefined) return known
  const [oldest] = TREES.keys()
  if (TREES.size >= MOST_TREES && oldest !== undefined) TREES.delete(oldest)
  const tree = { index: new FolderIndex(root, left), made: new Set<string>() }
  TREES.set(root, tree)
  return tree
}

/**
 * Mounts take bubblewrap a time that grows with their square: so many git directories are held by the kernel, those nearest
 * to the root first. In any other a change that could run something is undone when the command ends.
 */
const MOST_HELD = 24

function heldFirst(places: readonly GitPlace[], made: ReadonlySet<string>): WatchedPlace[] {
  const folders = [...new Set(places.map(({ folder }) => folder))]
    .filter((folder) => !made.has(folder))
    .toSorted((a, b) => depth(a) - depth(b))
  const held = new Set(folders.slice(0, MOST_HELD))
  return places.map((git) => {
    const { path, kind, id, target, stamp, folder } = git
    return { path, kind, id, target, stamp, git, held: held.has(folder) }
  })
}

function depth(path: string): number {
  return path.split('/').length
}

function missing(path: string, kind: ProtectedPlace['kind']): WatchedPlace {
  return { path, kind, id: '', target: undefined, stamp: '', held: false }
}
