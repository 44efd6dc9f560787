import { ATTACHMENT_EDGES } from './requirements/attachment-edges.ts'
import { ATTACHMENTS } from './requirements/attachments.ts'
import { COMPACTION_TRIGGERS } from './requirements/compaction-triggers.ts'
import { PROMPT_CONTRACT } from './requirements/prompt-contract.ts'
import { FACES } from './requirements/faces.ts'
import { LINKS } from './requirements/links.ts'
import type { Owner, Progress, Requirement } from './requirements/requirement.ts'
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
  ...LINKS,
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
  ...FACES,
]

/**
 * How far the part of each owner is. Tests cite every row of a finished one, some rows of one that is begun, and no row of one
 * that is planned.
 */
export const PROGRESS: Readonly<Record<Owner, Progress>> = {
  foundations: 'finished',
  turn: 'finished',
  terminal: 'finished',
  dialects: 'finished',
  wire: 'finished',
  resources: 'finished',
  families: 'finished',
  compaction: 'finished',
  pressure: 'finished',
  skills: 'finished',
  acp: 'finished',
  http: 'finished',
  web: 'finished',
  tether: 'finished',
  telegram: 'finished',
  mcp: 'finished',
  'agent-sdk': 'planned',
  faces: 'finished',
  later: 'planned',
}
