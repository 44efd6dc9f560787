import type { Pin } from '../../test/clients/pins.ts'

/** The newest versions whose packages can all be installed. Those that test/clients drives may be older. */
export const PEERS = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.327' },
  codex: { name: '@openai/codex', version: '0.169.0' },
  pi: { name: '@earendil-works/pi-coding-agent', version: '0.87.1' },
} as const satisfies Readonly<Record<string, Pin>>

/** Of floor.worker.ts. Figures of different floors are not comparable: change it only together with a new table. */
export const FLOOR_SHA256 = '875a5bc8ec54807a7f160238052c52b64e0180d286ca86ad1225d57b4eba61da'
