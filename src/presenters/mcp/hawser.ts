import type { McpParts } from './server.ts'
import { tetherTools, type TetherToolParts } from './tether-tools.ts'
import { INSTRUCTIONS } from './words.ts'

export interface HawserParts extends TetherToolParts, Pick<McpParts, 'version' | 'onDefect'> {}

/** What Hawser serves over MCP, on every transport. */
export function hawserMcp(parts: HawserParts): McpParts {
  const { version, onDefect } = parts
  return { version, onDefect, instructions: INSTRUCTIONS, tools: tetherTools(parts) }
}
