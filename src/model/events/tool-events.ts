import * as z from 'zod'
import { Descriptor } from '../descriptor.ts'
import { LoggedError } from '../error-shape.ts'
import { BlobKey, Sha256 } from '../ids.ts'
import { Flag, list, Milliseconds, openObject, type Frozen } from '../shape.ts'

/** `arguments` is the model's own text: it is replayed byte for byte, even if it is not JSON. */
export const ToolCall = openObject(() => ({
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
}))

/** `unknown`: the Turn crashed during the call, which may or may not have run and is never run again. */
export const ToolOutcome = z.enum(['ok', 'failed', 'denied', 'unknown'])

/** For a stored copy that is redacted: the hash of the file's real content. Absent if the copy is exact. */
export const RedactedOf = openObject(() => ({
  before: Sha256.optional(),
  after: Sha256.optional(),
}))

export const ToolResult = openObject(() => ({
  call_id: z.string(),
  name: z.string(),
  outcome: ToolOutcome,
  error: LoggedError.optional(),
  output: z.string(),
  truncated: Flag,
  /** For a command with truncated output: all of it, up to a limit. Older versions named it only in `output`. */
  whole_blob: BlobKey.optional(),
  /** Exit status of a program that ran to its end. If it is not 0, the outcome is `failed`. Older versions recorded neither. */
  exit_code: z.int().optional(),
  duration_ms: Milliseconds,
  resources: list(Descriptor),
  /** For write and edit: the path from the workspace with links resolved, and the content before and after. */
  path: z.string().optional(),
  before_blob: BlobKey.optional(),
  after_blob: BlobKey.optional(),
  redacted_of: RedactedOf.optional(),
  /** For write and edit: a unified diff for people, which is not sent to the model. Older versions recorded it as `output`. */
  diff: z.string().optional(),
  /** For a command: new files at protected paths that were moved aside. */
  moved: list(z.string()),
  /** For a command: files that it created or changed and that run later, for example in CI. */
  runs_later: list(z.string()),
}))

/** Identifies an entry at a protected path for later comparison. */
const WatchedPlace = openObject(() => ({
  path: z.string(),
  kind: z.enum(['file', 'folder', 'symlink', 'pipe', 'socket', 'device']),
  /** Device and inode. */
  id: z.string(),
  target: z.string().optional(),
  /** Changes with the content; absent if the sandbox prevents changes. */
  stamp: z.string().optional(),
}))

/** The protected paths before a command started. If its call has no result, the command may have created more. */
export const CommandWatched = openObject(() => ({
  call_id: z.string(),
  paths: z.array(WatchedPlace),
}))

/** `unknown`: Hawser stopped before the command ended. It is never run again. */
const CommandOutcome = z.enum(['ok', 'failed', 'unknown'])

/** A command that the person runs, recorded before it starts. It belongs to no Turn. */
export const ShellCommand = openObject(() => ({
  command_id: z.string(),
  command: z.string(),
  /** Where it starts, relative to the workspace; absent at its root. */
  folder: z.string().optional(),
}))

/** The end of such a command. The fields are those of `ToolResult`. */
export const ShellResult = openObject(() => ({
  command_id: z.string(),
  outcome: CommandOutcome,
  error: LoggedError.optional(),
  output: z.string(),
  truncated: Flag,
  whole_blob: BlobKey.optional(),
  exit_code: z.int().optional(),
  duration_ms: Milliseconds,
  moved: list(z.string()),
  runs_later: list(z.string()),
}))

/** A command of the person as the next message has it. */
export const PersonCommand = openObject(() => ({
  command: z.string(),
  folder: z.string().optional(),
  outcome: CommandOutcome,
  exit_code: z.int().optional(),
  /** Empty if the outcome is unknown. */
  output: z.string(),
  truncated: Flag,
}))
export type PersonCommand = Frozen<z.infer<typeof PersonCommand>>

const PlanEntry = openObject(() => ({
  content: z.string(),
  status: z.enum(['pending', 'in_progress', 'completed']),
  priority: z.enum(['high', 'medium', 'low']).optional(),
}))

/** Always the whole plan; an empty one means that there is none. */
export const PlanUpdated = openObject(() => ({ entries: z.array(PlanEntry) }))
