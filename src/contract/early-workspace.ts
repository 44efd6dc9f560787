import { quoted } from '../encoding/quote.ts'
import { LAYER_0 } from '../encoding/words/layer0.ts'
import { CONTRACT_VERSION } from '../encoding/words/version.ts'
import type { PromptContract } from './surface.ts'

/**
 * This version's contract with one thing moved: the path of the workspace stands first in Layer 0 instead of late. Nobody
 * works under it; comparisons need it to show what that place costs.
 */
export function earlyWorkspace(workspace: string): PromptContract {
  return {
    version: `${CONTRACT_VERSION}-early`,
    layer0: `Your workspace is ${quoted(workspace)}.\n\n${LAYER_0}`,
    lateWorkspace: 'as named at the beginning',
  }
}
