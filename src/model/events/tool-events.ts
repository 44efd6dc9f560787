import * as z from 'zod'
import { Descriptor } from '../descriptor.ts'
import { LoggedError } from '../error-shape.ts'
import { BlobKey, Sha256, TurnId } from '../ids.ts'
import { Rule } from '../rule.ts'
import { PermissionMode } from '../modes.ts'
import { Flag, list, Milliseconds, openObject } from '../shape.ts'

/** `arguments` is the model's own text: it replays byte for byte, also when it is not JSON. */
export const ToolCall = openObject({
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
})

/** `unknown` is a call whose Turn crashed: it may or may not have run, and is never run again. */
export const ToolOutcome = z.enum(['ok', 'failed', 'denied', 'unknown'])

/** Of a stored copy that is redacted: the hash of what the file held. Absent where the copy is exact. */
const RedactedOf = openObject({ before: Sha256.optional(), after: Sha256.optional() })

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
  redacted_of: RedactedOf.optional(),
  /** Of a command: protected paths that appeared and were moved aside. */
  moved: list(z.string()),
  /** Of a command: files that run later, as in CI, and that it made or changed. */
  runs_later: list(z.string()),
})

/** What identifies something at a protected path to whoever looks later. */
const WatchedPlace = openObject({
  path: z.string(),
  kind: z.enum(['file', 'folder', 'symlink', 'pipe', 'socket', 'device']),
  /** Device and inode. */
  id: z.string(),
  target: z.string().optional(),
  /** Changes with its content; absent where the sandbox keeps it from changing. */
  stamp: z.string().optional(),
})

/** What was protected before a command started. A call without a result after it may have left more than this. */
export const CommandWatched = openObject({ call_id: z.string(), paths: z.array(WatchedPlace) })

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
  redacted_of: RedactedOf.optional(),
  outcome: z.enum(['restored', 'changed_since', 'failed']),
  /** Why it failed; `redacted`: the stored content lacks a key, and the key is not known any more. */
  why: z.string().optional(),
})

export const FilesRestored = openObject({
  undone_turn_id: TurnId,
  files: z.array(RestoredFile),
  by: z.enum(['person', 'model', 'policy']),
})
