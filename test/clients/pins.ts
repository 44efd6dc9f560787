/** The tested clients, each with the version that its figures belong to. */
export const CLIENTS = {
  'Claude Code': { name: '@anthropic-ai/claude-code', version: '2.1.325' },
  Codex: { name: '@openai/codex', version: '0.166.0' },
  acpx: { name: 'acpx', version: '0.19.1' },
  pi: { name: '@earendil-works/pi-coding-agent', version: '0.87.1' },
} as const

/** Clients of `hawser mcp`. */
export const INSPECTOR = { name: '@modelcontextprotocol/inspector', version: '2.12.0' } as const
/** The suite of the revision 2026-07-28 and those before it, and the suite of the latter alone. */
export const CONFORMANCE = [
  { name: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12' },
  { name: '@modelcontextprotocol/conformance', version: '0.1.16' },
] as const

/** Hosts of MCP servers that are not tested otherwise. */
export const GEMINI = { name: '@google/gemini-cli', version: '0.61.0' } as const
export const OPENCODE = { name: 'opencode-ai', version: '1.18.33' } as const

export type ClientName = keyof typeof CLIENTS
