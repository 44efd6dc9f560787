import type { Result } from '../../model/errors.ts'
import type { OpenWorkspace } from './workspace.ts'

/** Workspaces with a home of their own, for Sessions that nobody keeps. `close` deletes them. */
export interface Scratch {
  /** Makes a workspace with these files in it. */
  readonly make: (
    name: string,
    files: readonly { readonly path: string; readonly text: string }[],
  ) => Promise<Result<void>>
  /** Opens a workspace that was made. `early`: its path is in Layer 0 instead of late context. */
  readonly open: (
    name: string,
    options: {
      readonly env: Readonly<Record<string, string | undefined>>
      readonly early: boolean
    },
  ) => Promise<Result<OpenWorkspace>>
  readonly close: () => Promise<void>
}
