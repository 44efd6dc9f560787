import type { ProtectedPlace } from '../watch/protected-places.ts'
import type { WatchedPlace } from '../watch/watch.ts'

/** The paths that determine the mounts of a sandbox. All are absolute. */
export interface MountScene {
  /** The real path. */
  readonly workspace: string
  readonly writable: 'workspace' | 'nothing'
  /** `$HAWSER_HOME`. */
  readonly hawserHome: string
  /** A folder below `$HAWSER_HOME` that is shown writable. Links not resolved yet. */
  readonly ownHome?: string
  /** The program is a guest. */
  readonly guest: boolean
  /** The folder that a guest sees as the workspace's `.hawser`. */
  readonly records?: string
  readonly network: boolean
  /** The entries at protected paths of the workspace. */
  readonly places: readonly (ProtectedPlace & Partial<Pick<WatchedPlace, 'git'>>)[]
  /** Folders of the workspace, relative to it, that are hidden but not held: each a `.hawser`. */
  readonly coveredPaths?: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Further paths to show, read-only. Absolute, links not resolved yet. */
  readonly readable: readonly string[]
  /** Real paths of git directories outside the workspace that belong to it. */
  readonly gitDirectories: readonly string[]
  /** Workspaces in the register, other than this one. Their `.hawser` is hidden wherever it is shown. */
  readonly otherWorkspaces?: readonly string[]
  /** Homes of the user. */
  readonly userHomes: readonly string[]
}
