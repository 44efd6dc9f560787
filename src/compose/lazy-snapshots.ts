import type { SnapshotPlace } from '../host/snapshots/snapshots.ts'
import type { SessionParts } from '../session/live/session-parts.ts'

type OpenSnapshots = NonNullable<SessionParts['tools']['snapshots']>

/** The snapshots of a workspace, loaded with the first command that can write. */
export function lazySnapshots(place: SnapshotPlace): OpenSnapshots {
  let loading: ReturnType<OpenSnapshots> | undefined
  return () =>
    (loading ??= import('../host/snapshots/snapshots.ts').then((loaded) =>
      loaded.workspaceSnapshots(place),
    ))
}
