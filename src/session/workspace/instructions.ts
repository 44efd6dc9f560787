import { openConfined, type ConfinedFiles } from '../../host/files/confined-files.ts'
import type { Folder } from '../../host/files/files.ts'
import { instructionFiles } from '../../host/instructions/instruction-files.ts'
import { leadsThrough, realPathOf } from '../../host/skills/skill-places.ts'
import { readTrustedInstructions } from '../../host/trust.ts'
import { ok, type Result } from '../../model/errors.ts'
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
      const trusted = await readTrustedInstructions(home, files.root)
      return trusted.ok && trusted.value.some((one) => one.path === path && one.sha256 === sha256)
    },
  }
}

/** The same where no Session needs to exist. `work` must not keep them. */
export async function withInstructions<T>(
  place: InstructionsPlace & { readonly homePath: string },
  work: (parts: InstructionParts, root: string) => Promise<T>,
): Promise<Result<T>> {
  const { workspace, homePath } = place
  const files = await openConfined(workspace, { refuse: [homePath, `${workspace}/.hawser`] })
  if (!files.ok) return files
  try {
    const root = realPathOf(workspace) ?? workspace
    return ok(await work(workspaceInstructions({ ...place, files: files.value }), root))
  } finally {
    await files.value.close()
  }
}
