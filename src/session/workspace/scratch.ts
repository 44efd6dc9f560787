import type { Result } from '../../model/errors.ts'
import type { OpenWorkspace } from './workspace.ts'

/** Temporary workspaces with their own home. `close` deletes them. */
export interface Scratch {
  /** Creates a workspace with these files. */
  readonly make: (
    name: string,
    files: readonly { readonly path: string; readonly text: string }[],
  ) => Promise<Result<void>>
  /** Opens a created workspace. `early`: its path is in Layer 0 instead of late context. */
  readonly open: (
    name: string,
    options: {
      readonly env: Readonly<Record<string, string | undefined>>
      readonly early: boolean
    },
  ) => Promise<Result<OpenWorkspace>>
  readonly close: () => Promise<void>
}
