import { openConfined, type ConfinedFiles } from '../../host/files/confined-files.ts'
import type { Folder } from '../../host/files/files.ts'
import { identifyFolder } from '../../host/files/folder-identity.ts'
import { instructionFiles } from '../../host/instructions/instruction-files.ts'
import { leadsThrough } from '../../host/skills/skill-places.ts'
import { readTrustedInstructions } from '../../host/trust.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import { OWN_INSTRUCTIONS } from '../../model/events/instruction-events.ts'
import { LIMITS } from '../../model/limits.ts'
import type { EffectiveSettings } from '../settings/effective-settings.ts'
import type { InstructionParts } from '../../turn/parts/instruction-parts.ts'

interface InstructionsPlace {
  /** Absolute. */
  readonly workspace: string
  /** `$HAWSER_HOME`, open. */
  readonly home: Folder
  readonly settings: Pick<EffectiveSettings, 'settings'>
}

/** The project instructions of a workspace. */
export function workspaceInstructions({
  workspace,
  home,
  files,
  settings: { settings },
}: InstructionsPlace & { readonly files: ConfinedFiles }): InstructionParts {
  const limit = LIMITS.instructions_file_bytes
  return {
    files: instructionFiles({ files, workspace, home, limit }),
    setting: settings.instructions ?? 'name',
    isTrusted: async (path, sha256) => {
      // A tool could have written a home in the workspace.
      if (path === OWN_INSTRUCTIONS) return !leadsThrough(home.label, [workspace, files.root])
      const folder = await identifyFolder(files.root)
      if (!folder.ok) return false
      const trusted = await readTrustedInstructions(home, folder.value)
      return trusted.ok && trusted.value.some((one) => one.path === path && one.sha256 === sha256)
    },
  }
}

/** The same where no Session needs to exist. `work` must not keep them. */
export async function withInstructions<T>(
  place: InstructionsPlace & { readonly homePath: string },
  work: (parts: InstructionParts, folder: FolderIdentity) => Promise<T>,
): Promise<Result<T>> {
  const { workspace, homePath } = place
  const identity = await identifyFolder(workspace)
  if (!identity.ok) return identity
  const refuse = [homePath, `${workspace}/.hawser`]
  const files = await openConfined(workspace, { refuse, identity: identity.value })
  if (!files.ok) return files
  try {
    return ok(await work(workspaceInstructions({ ...place, files: files.value }), identity.value))
  } finally {
    await files.value.close()
  }
}
