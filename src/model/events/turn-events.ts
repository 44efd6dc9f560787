import * as z from 'zod'
import { ATTACHMENT_CODES, AttachmentError } from '../attachment.ts'
import { Descriptor } from '../descriptor.ts'
import { LoggedError } from '../error-shape.ts'
import { BlobKey, Sha256 } from '../ids.ts'
import { LIMITS } from '../limits.ts'
import { PermissionMode, SessionMode } from '../modes.ts'
import { boundedText, Count, Flag, list, openObject, type Frozen } from '../shape.ts'
import { Sender } from '../tether/tether-address.ts'
import { TurnStatus } from '../turn-status.ts'
import { NamedInstructions } from './instruction-events.ts'
import { PersonCommand } from './tool-events.ts'
import { UsageTotal } from './provider-events.ts'

export const TurnStarted = openObject(() => ({
  source: openObject(() => ({
    presenter: z.string(),
    channel: z.string().optional(),
    user: Sender.optional(),
    /** The sender's own name for the message, with which it may repeat the message. A Session runs each key once. */
    message_key: boundedText(1, LIMITS.message_key_bytes).optional(),
  })),
  /** The Turn only asks the model for the summary of a checkpoint: it runs no tools, and no other Turn shows it. */
  purpose: z.enum(['summary']).optional(),
}))

/**
 * A file or folder that the message names, read when the message was admitted. `blob` has the included content in UTF-8: lines
 * `from_line` to `to_line` of a file, or the names in a folder.
 */
export const MentionedPath = openObject(() => ({
  /** Relative to the workspace, with links resolved. */
  path: z.string(),
  kind: z.enum(['file', 'folder']),
  /** Of the included content. */
  content_sha256: Sha256,
  blob: BlobKey,
  bytes: Count,
  /** Absent for a folder and for an empty file. */
  from_line: Count.optional(),
  to_line: Count.optional(),
  /** Of the whole file, or names in the folder; absent if it was not read to its end. */
  lines: Count.optional(),
  /** Of the file on disk. */
  size_bytes: Count.optional(),
  charset: z.string().optional(),
  /** The content is that of an editor, where the file was not saved. */
  unsaved: Flag,
  truncated: Flag,
}))
export type MentionedPath = Frozen<z.infer<typeof MentionedPath>>

/** A mention that was not included. `path` is as the person wrote it. */
export const MentionError = openObject(() => ({
  path: z.string(),
  code: z.enum(ATTACHMENT_CODES),
  reason: z.string(),
}))
export type MentionError = Frozen<z.infer<typeof MentionError>>

export const UserMessage = openObject(() => ({
  text: z.string(),
  resources: list(Descriptor),
  attachment_errors: list(AttachmentError),
  prompt_mode: z.enum(['string', 'blocks']),
  presenter_context: z.record(z.string(), z.string()).optional(),
  /** The content of standard input in addition to the text. */
  piped: z.string().optional(),
  mentions: list(MentionedPath),
  mention_errors: list(MentionError),
  /** Commands that the person ran since the previous message. */
  shell: list(PersonCommand),
  /** Older ones, for which there was no room. */
  shell_omitted: Count.optional(),
  steer: Flag,
}))

export const LateContext = openObject(() => ({
  workspace: z.string(),
  /** The current folder of the person, relative to the workspace; absent at its root. */
  folder: z.string().optional(),
  branch: z.string().optional(),
  mode: SessionMode,
  permission_mode: PermissionMode,
  /** In the time zone `zone`, or in UTC if none is recorded. */
  date: z.iso.date(),
  zone: z.string().optional(),
  os: z.string().optional(),
  /** The shell that runs commands. */
  shell: z.string().optional(),
  /** The project instructions that apply; empty if those of an earlier list no longer do. */
  instructions: list(NamedInstructions),
  /** More apply than the list has. */
  more_instructions: Flag,
}))

export const AssistantMessage = openObject(() => ({
  text: z.string(),
  partial: Flag,
  /** The model's label for this part of its answer; sent back with it. */
  phase: z.string().optional(),
  resources: list(Descriptor),
}))

/** `unknown_reason`: the provider gave an undocumented reason. `lost_call`: a call arrived incomplete. */
export const CutReason = z.enum(['output_limit', 'lost_call', 'unknown_reason'])

/** The last answer of a Turn ended before the model finished. */
export const AnswerCut = openObject(() => ({
  reason: CutReason,
  /** In the provider's own words. */
  stop_reason: z.string(),
  /** Calls that arrived incomplete. They never run. */
  lost_calls: Count,
}))
export type AnswerCut = Frozen<z.infer<typeof AnswerCut>>

export const TurnEnded = openObject(() => ({
  status: TurnStatus,
  error: LoggedError.optional(),
  usage_total: UsageTotal,
  crash_recovered: Flag,
  cut: AnswerCut.optional(),
}))
