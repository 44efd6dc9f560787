import type { ProtectedPlace } from '../watch/protected-places.ts'
import type { WatchedPlace } from '../watch/watch.ts'

/** What a sandbox is laid out around. All paths are absolute. */
export interface MountScene {
  /** Where it really is, without links. */
  readonly workspace: string
  readonly writable: 'workspace' | 'nothing'
  /** `$HAWSER_HOME`. */
  readonly hawserHome: string
  /** The workspace's `.hawser` belongs to the program itself. */
  readonly guest: boolean
  readonly network: boolean
  /** What stands at protected paths of the workspace now. */
  readonly places: readonly (ProtectedPlace & Partial<Pick<WatchedPlace, 'git'>>)[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Further paths to show, read-only: absolute, and resolved by nobody yet. */
  readonly readable: readonly string[]
  /** Git directories outside that belong to the workspace, without links. */
  readonly gitDirectories: readonly string[]
  /** Homes of the person we run for. */
  readonly userHomes: readonly string[]
}
