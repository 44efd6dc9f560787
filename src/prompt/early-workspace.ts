import { quote } from '../encoding/quote.ts'
import { LAYER_0 } from './words/layer0.ts'
import { CONTRACT_VERSION } from './words/version.ts'
import type { PromptContract } from './surface.ts'

/**
 * The contract of this version with one change: the workspace path is at the start of Layer 0 instead of in late
 * context. Used only by comparisons, to measure the cost of that position.
 */
export function earlyWorkspace(workspace: string): PromptContract {
  return {
    version: `${CONTRACT_VERSION}-early`,
    layer0: `Your workspace is ${quote(workspace)}.\n\n${LAYER_0}`,
    lateWorkspace: 'as named at the beginning',
  }
}
