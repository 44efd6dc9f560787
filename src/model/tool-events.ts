import * as z from 'zod'
import { Descriptor } from './descriptor.ts'
import { LoggedError } from './error-shape.ts'
import { BlobKey, Sha256, TurnId } from './ids.ts'
import { Rule } from './rule.ts'
import { PermissionMode } from './session-events.ts'
import { Flag, list, Milliseconds, openObject } from './shape.ts'

/** `arguments` is the model's own text: it replays byte for byte, also when it is not JSON. */
export const ToolCall = openObject({
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
})

/** `unknown` is a call whose Turn crashed: it may or may not have run, and is never run again. */
export const ToolOutcome = z.enum(['ok', 'failed', 'denied', 'unknown'])

export const ToolResult = openObject({
  call_id: z.string(),
  name: z.string(),
  outcome: ToolOutcome,
  error: LoggedError.optional(),
  output: z.string(),
  truncated: Flag,
  /** Of a program that ran to its end. Where it is not 0, the outcome is `failed`; Logs of older versions have neither. */
  exit_code: z.int().optional(),
  duration_ms: Milliseconds,
  resources: list(Descriptor),
  /** Of write and edit: the file from the workspace, links resolved, and what it held before and after. */
  path: z.string().optional(),
  before_blob: BlobKey.optional(),
  after_blob: BlobKey.optional(),
})

const PlanEntry = openObject({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.enum(['high', 'medium', 'low']).optional(),
})

/** The whole plan each time; an empty one says that there is none. */
export const PlanUpdated = openObject({ entries: z.array(PlanEntry) })

export const PermissionOutcome = z.enum(['allowed', 'denied'])

export const PermissionDecision = openObject({
  call_id: z.string().optional(),
  subject: z.string(),
  args_sha256: Sha256,
  mode: PermissionMode,
  decision: PermissionOutcome,
  scope: z.enum(['once', 'session', 'workspace']),
  by: z.enum(['policy', 'person', 'timeout', 'nobody']),
  /** What the person granted, or the rule by which policy decided. */
  rule: Rule.optional(),
  /** Why the person said no, in their words. */
  reason: z.string().optional(),
})

/** A blob that is absent stands for a file that was not there. */
const RestoredFile = openObject({
  path: z.string(),
  before_blob: BlobKey.optional(),
  after_blob: BlobKey.optional(),
  outcome: z.enum(['restored', 'changed_since', 'failed']),
})

export const FilesRestored = openObject({
  undone_turn_id: TurnId,
  files: z.array(RestoredFile),
  by: z.enum(['person', 'model', 'policy']),
})
