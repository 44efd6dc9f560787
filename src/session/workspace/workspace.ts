import type { Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'
import type { Result } from '../../model/errors.ts'
import type { ModelRow } from '../../model/model-facts.ts'
import type { Harness } from '../harness.ts'
import type { SessionParts } from '../live/session-parts.ts'
import type { EffectiveSettings } from '../settings/effective-settings.ts'

/** A workspace in use, as every presenter receives it. Close it once; nothing of it works afterwards. */
export interface OpenWorkspace {
  readonly harness: Harness
  readonly settings: EffectiveSettings
  /** `<workspace>/.hawser` and `$HAWSER_HOME`, for settings and trust. */
  readonly folders: { readonly workspace: Folder; readonly home: Folder }
  readonly sandbox: SessionParts['tools']['sandbox']
  /** The model of a provider for whoever names none. */
  readonly defaultModel: (provider: string) => string | undefined
  /** What is known of models, with what the settings say of them: of one provider, or of all. */
  readonly models: (provider?: string) => readonly ModelRow[]
  readonly ids: Ids
  readonly close: () => Promise<void>
}

export interface OpenOptions {
  /** Asks whoever is there. Without it every question is answered no, by nobody. */
  readonly ask?: SessionParts['person']['ask']
  /** Where the person is, relative to the workspace: commands start there. Empty or absent at its root. */
  readonly folder?: string
  /** Creates `.hawser` where it is missing; without it that is `not_found`. */
  readonly make?: boolean
}

/** Opens the workspace at `path`, and everything its Sessions work with. Fails as a value; throws for defects only. */
export type OpenAt = (path: string, options?: OpenOptions) => Promise<Result<OpenWorkspace>>

/** Opens a workspace, does `work` in it, and closes it, whatever becomes of the work. */
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
