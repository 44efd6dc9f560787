import { ATTACHMENT_EDGES } from './requirements/attachment-edges.ts'
import { ATTACHMENTS } from './requirements/attachments.ts'
import { COMPACTION_TRIGGERS } from './requirements/compaction-triggers.ts'
import { PROMPT_CONTRACT } from './requirements/prompt-contract.ts'
import type { Owner, Requirement } from './requirements/requirement.ts'
import { SESSION_RESOURCES } from './requirements/session-resources.ts'
import { SKILL_HYDRATION } from './requirements/skill-hydration.ts'
import { TETHER_BLOBS } from './requirements/tether-blobs.ts'
import { TETHER_DAEMON } from './requirements/tether-daemon.ts'
import { TETHER_FRAMES } from './requirements/tether-frames.ts'
import { TETHER_GATEWAYS } from './requirements/tether-gateways.ts'
import { TETHER_MCP } from './requirements/tether-mcp.ts'
import { TURN_API } from './requirements/turn-api.ts'

export type { Owner, Requirement }

/** Every promised behaviour. A test cites the rows it demonstrates by their ids in square brackets. */
export const REQUIREMENTS: readonly Requirement[] = [
  ...SESSION_RESOURCES,
  ...TETHER_BLOBS,
  ...TETHER_FRAMES,
  ...TETHER_GATEWAYS,
  ...TETHER_MCP,
  ...TETHER_DAEMON,
  ...PROMPT_CONTRACT,
  ...COMPACTION_TRIGGERS,
  ...SKILL_HYDRATION,
  ...ATTACHMENTS,
  ...ATTACHMENT_EDGES,
  ...TURN_API,
]

/** Owners whose rows must all be cited by a test. An owner is added when its part is done. */
export const FINISHED_OWNERS: readonly Owner[] = [
  'foundations',
  'turn',
  'terminal',
  'dialects',
  'wire',
  'resources',
  'compaction',
  'pressure',
  'skills',
  'acp',
  'http',
  'mcp',
]
