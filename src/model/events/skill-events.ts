import * as z from 'zod'
import { LoggedError } from '../error-shape.ts'
import { BlobKey, EventId, ResourceId, Sha256 } from '../ids.ts'
import { PermissionMode } from '../modes.ts'
import { Count, Flag, list, Milliseconds, Opaque, openObject } from '../shape.ts'
import { PermissionOutcome } from './tool-events.ts'

export const SkillActivation = openObject(() => ({
  name: z.string(),
  args: z.string(),
  source: z.string(),
  path: z.string(),
  content_sha256: Sha256,
  blob: BlobKey,
  trust: z.string(),
  activated_by: z.enum(['user', 'model']),
}))

/** Identifies a Skill by the exact text that was activated. */
export const SkillIdentity = openObject(() => ({ name: z.string(), content_sha256: Sha256 }))

/** `args` depends on the producer: an object for a tool, words for a command, null for none. */
const ProducedBy = openObject(() => ({
  kind: z.enum(['tool', 'command', 'file', 'resource_view', 'presenter']),
  name: z.string(),
  args: Opaque,
}))

export const HydrationStatus = z.enum(['ok', 'denied', 'failed', 'interrupted'])

export const SkillContextHydration = openObject(() => ({
  skill: SkillIdentity,
  activation_event_id: EventId,
  context_source_id: z.string(),
  produced_by: ProducedBy,
  permission: openObject(() => ({
    mode: PermissionMode,
    decision: PermissionOutcome,
    explicit: z.boolean(),
  })),
  invoked_by: z.enum(['person', 'model', 'presenter', 'auto']),
  status: HydrationStatus,
  error: LoggedError.optional(),
  output: z.string(),
  resource_id: ResourceId.optional(),
  output_sha256: Sha256,
  output_bytes: Count,
  truncated: Flag,
  invalid_bytes_replaced: Flag,
  duration_ms: Milliseconds,
  limitations: list(z.string()),
}))
