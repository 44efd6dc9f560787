import * as z from 'zod'
import { ContextSource } from './context-source.ts'
import { LoggedError } from '../error-shape.ts'
import { BlobKey, EventId, ResourceId, Sha256 } from '../ids.ts'
import { PermissionMode } from '../modes.ts'
import { Count, Flag, list, Milliseconds, Opaque, openObject } from '../shape.ts'
import { PermissionOutcome } from './permission-events.ts'

export const SkillActivation = openObject(() => ({
  name: z.string(),
  args: z.string(),
  /** The root it was found in: see `SkillRoot`. */
  source: z.string(),
  /** Relative to its root. */
  path: z.string(),
  /** Hash of the whole SKILL.md. */
  content_sha256: Sha256,
  /** The body without the front matter: what the model sees. */
  blob: BlobKey,
  body_bytes: Count.optional(),
  /** The length of the body with the arguments in place of `$ARGUMENTS`; absent if it is shown as it is. */
  filled_bytes: Count.optional(),
  /** `user`: installed by the person. `trusted`: from the repository, with content that the person trusted. */
  trust: z.string(),
  activated_by: z.enum(['user', 'model']),
  /** What it may hydrate in this Turn, as declared by this content. */
  context_sources: list(ContextSource),
  /** Calls that it permits in this Turn. */
  allowed_tools: list(z.string()),
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
  /** What the model sees. */
  output: z.string(),
  /** The Resource with the whole output, if `output` is truncated; or the Resource that was viewed. */
  resource_id: ResourceId.optional(),
  handle: z.string().optional(),
  output_sha256: Sha256,
  output_bytes: Count,
  truncated: Flag,
  /** Of the whole output, if `output` is truncated. */
  whole_sha256: Sha256.optional(),
  whole_bytes: Count.optional(),
  /** Absent for none. */
  invalid_bytes_replaced: Count.optional(),
  duration_ms: Milliseconds,
  limitations: list(z.string()),
}))
