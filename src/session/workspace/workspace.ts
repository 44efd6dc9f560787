import type { Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import type { Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { Harness } from '../harness.ts'
import type { SessionParts } from '../live/session-parts.ts'
import type { EffectiveSettings } from '../settings/effective-settings.ts'

/** An open workspace, as every presenter receives it. Close it once; it is unusable afterwards. */
export interface OpenWorkspace {
  readonly harness: Harness
  readonly settings: EffectiveSettings
  /** Its `.hawser` has contents that this home did not create, and is a workspace of this home from now on. */
  readonly adopts: boolean
  /** `<workspace>/.hawser` and `$HAWSER_HOME`, for settings and trust. */
  readonly folders: { readonly workspace: Folder; readonly home: Folder }
  readonly sandbox: SessionParts['tools']['sandbox']
  /** The default model of a provider. */
  readonly defaultModel: (provider: string) => string | undefined
  /** The catalogue entries, with the settings applied: of one provider, or of all. */
  readonly models: (provider?: string) => readonly ModelRow[]
  readonly ids: Ids
  readonly close: () => Promise<void>
}

export interface OpenOptions {
  /**
   * How long a permission question waits for a client that can answer to come back. Default: the person's setting. 0 where
   * no other client can come.
   */
  readonly questionMs?: number
  /** Rules for single Sessions, if they last longer than the workspace is open. */
  readonly grants?: SessionParts['person']['grants']
  /** The current folder of the person, relative to the workspace, where commands start. Empty or absent at its root. */
  readonly folder?: string
  /** The files that clients of Sessions have open. */
  readonly buffers?: SessionParts['tools']['buffers']
  /** Opens the records of this Instance in the workspace, to read them, in place of those of the person. */
  readonly instance?: InstanceId | undefined
  /** Creates `.hawser` if it is missing; otherwise a missing one is `not_found`. */
  readonly make?: boolean
  /** Which folder it must be. Default: the one that the path leads to. */
  readonly identity?: FolderIdentity
}

/**
 * Opens the workspace at `path` and everything its Sessions need. Expected failures are values; throws only for
 * defects.
 */
export type OpenAt = (path: string, options?: OpenOptions) => Promise<Result<OpenWorkspace>>

/** Opens a workspace, runs `work` in it, and closes it in any case. */
export async function withWorkspace<T>(
  opening: ReturnType<OpenAt>,
  work: (workspace: OpenWorkspace) => Promise<Result<T>>,
): Promise<Result<T>> {
  const workspace = await opening
  if (!workspace.ok) return workspace
  try {
    return await work(workspace.value)
  } finally {
    await workspace.value.close()
  }
}
