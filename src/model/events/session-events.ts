import * as z from 'zod'
import { BlobKey, ResourceId, SessionId, Sha256 } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { PermissionMode, SessionMode } from '../modes.ts'
import { Count, openObject } from '../shape.ts'
import { SurfaceParams } from '../surface.ts'
import { TetherBinding } from '../tether/tether-address.ts'

export const SessionStarted = openObject(() => ({
  workspace: z.string(),
  provider: z.string(),
  model: z.string(),
  mode: SessionMode,
  permission_mode: PermissionMode,
  presenter: z.string(),
  harness_version: z.string(),
  tether: TetherBinding.optional(),
}))

/** The Resources of a Fork have their own ids. The pairs are a sample; `resources_count` is the total. */
const ForkedResource = openObject(() => ({
  parent_resource_id: ResourceId,
  resource_id: ResourceId,
}))

export const SessionFork = openObject(() => ({
  parent_session_id: SessionId,
  at_seq: Count,
  at_hash: Sha256,
  at_offset: Count,
  root_session_id: SessionId,
  resources: z.array(ForkedResource).max(LIMITS.fork_resources).optional(),
  resources_count: Count,
  /** What holds in the child from here on; with it, a list needs no parent. */
  provider: z.string().optional(),
  model: z.string().optional(),
  mode: SessionMode.optional(),
  permission_mode: PermissionMode.optional(),
  title: z.string().optional(),
}))

export const SessionSettings = openObject(() => ({
  model: z.string().optional(),
  provider: z.string().optional(),
  effort: z.string().optional(),
  mode: SessionMode.optional(),
  permission_mode: PermissionMode.optional(),
  title: z.string().optional(),
}))

export const PromptSurface = openObject(() => ({
  contract_version: z.string(),
  layer0_sha256: Sha256,
  layer1_sha256: Sha256,
  toolset_sha256: Sha256,
  skills_sha256: Sha256,
  /** Hash of the prompt texts that requests are written with. Versions that did not record it used other texts. */
  words_sha256: Sha256.optional(),
  blob: BlobKey,
  params: openObject(() => SurfaceParams.shape),
  reason: z.enum(['session_start', 'reload', 'checkpoint']),
}))
