import type { McpParts } from './server.ts'
import { tetherTools, type TetherToolParts } from './tether-tools.ts'
import { INSTRUCTIONS } from './words.ts'

export interface HawserParts
  extends TetherToolParts, Pick<McpParts, 'version' | 'onDefect' | 'redactor'> {}

/** What Hawser serves over MCP, on every transport. */
export function hawserMcp(parts: HawserParts): McpParts & Pick<HawserParts, 'ids'> {
  const { version, onDefect, redactor, ids } = parts
  return { version, onDefect, redactor, ids, instructions: INSTRUCTIONS, tools: tetherTools(parts) }
}
