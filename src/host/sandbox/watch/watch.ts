import { dirname, join } from 'node:path'
import type { FolderIdentity } from '../../../model/folder-identity.ts'
import { rootPaths } from '../../../model/safety/protected-paths.ts'
import { FolderIndex, type Look } from './folder-index.ts'
import { gitPlacesIn, type GitPlace } from './git-look.ts'
import { hawserFolders, isHawserPath } from './hawser-folders.ts'
import { violation } from './judge.ts'
import { protectedPlaces, type ProtectedPlace } from './protected-places.ts'

/** A protected path, as one scan found it. */
export interface WatchedPlace extends ProtectedPlace {
  /** Present for paths that git reads. */
  readonly git?: GitPlace
  /** The sandbox prevents commands from changing it: if it changed, another process did that. */
  readonly isHeld: boolean
  /** Commands cannot see it, but can move it. */
  readonly isCovered?: true
}

/** A snapshot of everything that is protected. */
export interface Watch {
  /** The real path of the workspace. */
  readonly root: string
  readonly places: readonly WatchedPlace[]
  /** Files that something runs later but that are ordinary work, with a stamp that changes when they do. */
  readonly namedFiles: ReadonlyMap<string, string>
}

/** A change at a protected path that must not stay. */
export interface ProtectedChange {
  readonly path: string
  /** Why it must not stay. */
  readonly why: string
  /** What to restore in its place: the earlier link target or content. */
  readonly earlier: { readonly target?: string; readonly text?: string }
}

export interface WatchOptions {
  /** Relative to the workspace. */
  readonly paths: readonly string[]
  /** The repository's own git directory, if it lies outside the workspace. */
  readonly gitDirectories: readonly FolderIdentity[]
  /** Which folder the workspace is: nothing is moved in another one. */
  readonly identity?: FolderIdentity | undefined
  /** Names at the root that are not scanned. */
  readonly skippedNames: readonly string[]
  /** `$HAWSER_HOME`. */
  readonly hawserHome: string
}

/** Scans the folders of a workspace: the part of a snapshot that takes long. It can begin early. */
export function lookOver(
  root: string,
  { skippedNames }: Pick<WatchOptions, 'skippedNames'>,
): Promise<Look> {
  return indexOf(root, skippedNames).index.look()
}

/** Takes a snapshot of a workspace. The first one of this process reads the whole tree, later ones only what changed. */
export async function watchOver(
  root: string,
  options: WatchOptions,
  looking = lookOver(root, options),
): Promise<Watch> {
  const known = indexOf(root, options.skippedNames)
  const [look, own, named] = await Promise.all([
    looking,
    protectedPlaces(root, options.paths),
    protectedPlaces(root, rootPaths('named')),
  ])
  const outer = await Promise.all(
    options.gitDirectories.map(async ({ path: directory }) => {
      const found = await indexOf(directory, []).index.look()
      const git = gitPlacesIn(directory, found).map((place) => ({
        ...place,
        path: join(directory, place.path),
        folder: join(directory, place.folder),
        by: place.by && join(directory, place.by),
      }))
      return { git, hawsers: found.hawsers.map((path) => join(directory, path)) }
    }),
  )
  const outerGit = outer.flatMap((one) => one.git)
  const git = heldFirst([...gitPlacesIn(root, look), ...outerGit], known.madeGitFolders)
  const nested = [...look.hawsers, ...outer.flatMap((one) => one.hawsers)]
  const hawsers = hawserFolders(root, nested, options.hawserHome)
  const unreadable = look.unreadable.map((path) => missingPlace(path, 'folder'))
  return {
    root,
    places: [
      ...own.map((place) => ({ ...place, isHeld: true })),
      ...hawsers,
      ...git,
      ...unreadable,
    ],
    namedFiles: new Map([
      ...named.map(({ path, stamp }) => [path, stamp] as const),
      ...look.deeper.map((path) => [path, ''] as const),
      ...hawsers.flatMap(({ path, kind, stamp, isHeld }) =>
        isHeld || kind !== 'folder' ? [] : [[path, stamp] as const],
      ),
    ]),
  }
}

/** The changes at protected paths between two snapshots that must not stay. */
export function protectedChanges(
  before: Watch,
  after: Watch,
  options: WatchOptions,
): ProtectedChange[] {
  const earlier = new Map(before.places.map((place) => [place.path, place]))
  const knownPaths = new Set(earlier.keys())
  const changed = after.places.filter((place) => isChanged(earlier, place))
  const folders = gitFoldersOf(before)
  const fresh = new Set(changed.map(({ path }) => path))
  const all = after.places.flatMap(({ git }) => (git === undefined ? [] : [git]))
  const inside = [after.root, ...options.gitDirectories.map(({ path }) => path)]
  return changed.flatMap((place) => {
    const was = earlier.get(place.path)
    const { git } = place
    // Checked together with what points to it.
    if (git?.by !== undefined && fresh.has(git.by)) return []
    const context = { root: after.root, inside, earlier: was?.git, all, knownPaths, folders }
    const why = git === undefined ? 'it is protected' : violation(git, context)
    if (why === undefined) return []
    const target = was?.target === undefined ? {} : { target: was.target }
    const text = was?.git?.text === undefined ? {} : { text: was.git.text }
    return [{ path: place.path, why, earlier: { ...target, ...text } }]
  })
}

/** Remembers git directories that a command created and that stay: later commands may change and remove them. */
export function rememberMade(before: Watch, after: Watch): void {
  const there = gitFoldersOf(before)
  const { madeGitFolders } = indexOf(after.root, [])
  for (const { git } of after.places) {
    if (git !== undefined && !there.has(git.folder)) madeGitFolders.add(git.folder)
  }
}

/**
 * Files that something runs later and that a command created or changed. They are ordinary work and stay. Also a `.hawser`
 * that was not hidden and that has changed or is gone.
 */
export function namedBetween(before: Watch, after: Watch): readonly string[] {
  const changed = [...after.namedFiles].filter(
    ([path, stamp]) =>
      before.namedFiles.get(path) !== stamp && (before.namedFiles.has(path) || !isHawserPath(path)),
  )
  const there = new Set(after.places.map(({ path }) => path))
  const gone = [...before.namedFiles.keys()].filter(
    (path) => isHawserPath(path) && !there.has(path),
  )
  return [...changed.map(([path]) => path), ...gone]
}

function gitFoldersOf({ places }: Watch): ReadonlySet<string> {
  return new Set(places.flatMap(({ git }) => (git === undefined ? [] : [git.folder])))
}

function isChanged(earlier: ReadonlyMap<string, WatchedPlace>, now: WatchedPlace): boolean {
  const before = earlier.get(now.path)
  if (before === undefined) {
    return earlier.get(dirname(now.path))?.isHeld !== true
  }
  if (before.kind !== 'symlink' && before.isHeld) return false
  if (before.id !== now.id || before.target !== now.target) return true
  return now.kind === 'file' && before.stamp !== now.stamp
}

interface KnownTree {
  readonly index: FolderIndex
  /** Git directories that commands of this process created, relative to the root. */
  readonly madeGitFolders: Set<string>
}

const TREES = new Map<string, KnownTree>()
/** The number of workspaces whose folders one process remembers. */
const MOST_TREES = 16

function indexOf(root: string, skipped: readonly string[]): KnownTree {
  const known = TREES.get(root)
  if (known !== undefined) return known
  const [oldest] = TREES.keys()
  if (TREES.size >= MOST_TREES && oldest !== undefined) TREES.delete(oldest)
  const tree = { index: new FolderIndex(root, skipped), madeGitFolders: new Set<string>() }
  TREES.set(root, tree)
  return tree
}

/**
 * The time bubblewrap needs grows with the square of the number of mounts. The kernel therefore protects only this many git
 * directories, those nearest to the root first. In others, a change that could run a program is undone when the command
 * ends.
 */
const MOST_HELD = 24

function heldFirst(places: readonly GitPlace[], made: ReadonlySet<string>): WatchedPlace[] {
  const folders = [...new Set(places.map(({ folder }) => folder))]
    .filter((folder) => !made.has(folder))
    .toSorted((a, b) => depth(a) - depth(b))
  const held = new Set(folders.slice(0, MOST_HELD))
  return places.map((git) => {
    const { path, kind, id, target, stamp, folder } = git
    return { path, kind, id, target, stamp, git, isHeld: held.has(folder) }
  })
}

function depth(path: string): number {
  return path.split('/').length
}

function missingPlace(path: string, kind: ProtectedPlace['kind']): WatchedPlace {
  return { path, kind, id: '', target: undefined, stamp: '', isHeld: false }
}
