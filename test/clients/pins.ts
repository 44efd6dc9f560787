/** The tested clients, each with the version that its figures belong to. */
export const CLIENTS = {
  'Claude Code': { name: '@anthropic-ai/claude-code', version: '2.1.325' },
  Codex: { name: '@openai/codex', version: '0.166.0' },
  acpx: { name: 'acpx', version: '0.19.1' },
  pi: { name: '@earendil-works/pi-coding-agent', version: '0.87.1' },
} as const

/** For clients that need a newer Node than the one that runs the tests. */
export const NEWER_NODE = {
  name: `node-${process.platform}-${process.arch}`,
  version: '24.21.0',
} as const

export type ClientName = keyof typeof CLIENTS
export type Pin = (typeof CLIENTS)[ClientName] | typeof NEWER_NODE
