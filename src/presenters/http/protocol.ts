import * as z from 'zod'
import { PermissionOutcome, PermissionScope } from '../../model/events/permission-events.ts'
import {
  MessageChoices,
  DraftAttachment,
  WaitingMessage,
} from '../../model/messages/message-draft.ts'
import { ResourceId, SessionId } from '../../model/ids.ts'
import { PermissionMode, SessionMode } from '../../model/modes.ts'
import { LIMITS } from '../../model/limits.ts'
import { Effort } from '../../model/settings.ts'

/** What clients send. Unknown fields are refused: a field that is ignored would be a promise not kept. */

const PATH_CHARACTERS = 4096
const NAME_CHARACTERS = 200
const MOST_PATHS = 100
const MOST_SKILLS = 20
const ARGUMENT_CHARACTERS = 16 * 1024
/** Enough for the longest message with every character escaped. What it may have is checked after that. */
export const TURN_BYTES = 8 * 1024 * 1024

/** Instructions that the Session keeps. What they may have together is checked after that. */
const AppendedInstructions = z
  .array(z.string().min(1).max(LIMITS.instructions_text_bytes))
  .max(LIMITS.instructions_files)

/** Not checked for its form: whether it is absolute is a fact of the platform. */
const FolderPath = z.string().min(1).max(PATH_CHARACTERS)
const Name = z.string().min(1).max(NAME_CHARACTERS)

export const CreateSession = z.strictObject({
  projectRoot: FolderPath,
  mode: SessionMode.optional(),
  permissionMode: PermissionMode.optional(),
  provider: Name.optional(),
  model: Name.optional(),
  effort: Effort.optional(),
  appendInstructions: AppendedInstructions.optional(),
})

export const CheckAttachments = z.strictObject({
  paths: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS),
})

export const ListQuery = z.object({ projectRoot: FolderPath })

/** One segment of a path, as a person would name a file. */
export const UploadQuery = z.object({
  name: z
    .string()
    .min(1)
    .max(NAME_CHARACTERS)
    .regex(/^[^/\\\p{Cc}\p{Cf}\u2028\u2029]+$/u)
    .refine((name) => !/^\.{1,2}$|^\.tmp-/.test(name) && Buffer.byteLength(name) <= 255),
})

export const SessionParam = z.object({ id: SessionId })
export const ResourceParam = z.object({ id: SessionId, resource: ResourceId })
export const ResourceQuery = z.object({
  /** The longest side of a thumbnail, in pixels. */
  size: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.int().min(16).max(2048))
    .optional(),
})

const SkillSource = z.strictObject({
  id: Name,
  args: z.record(z.string(), z.unknown()).optional(),
})

/** Ids are checked by their own schemas later, so that a bad one is answered like an unknown one. */
const AnyId = z.string().max(NAME_CHARACTERS)

export const TurnBody = z.strictObject({
  sessionId: AnyId,
  message: z.string(),
  attachments: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS).default([]),
  /** Files and folders of the workspace, relative to it. An `@` in the message is only text. */
  mentions: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS).default([]),
  skills: z
    .array(
      z.strictObject({
        name: Name,
        args: z.string().max(ARGUMENT_CHARACTERS).optional(),
        with: z.array(SkillSource).max(MOST_SKILLS).optional(),
      }),
    )
    .max(MOST_SKILLS)
    .default([]),
  opts: z
    .strictObject({
      model: Name.optional(),
      mode: SessionMode.optional(),
      permissionMode: PermissionMode.optional(),
      effort: Effort.optional(),
      appendInstructions: AppendedInstructions.optional(),
      onDisconnect: z.enum(['continue', 'interrupt']).default('continue'),
      whenBusy: z.enum(['refuse', 'queue', 'replace']).default('refuse'),
    })
    .prefault({}),
  idempotencyKey: z.string().optional(),
})
export type TurnBody = z.infer<typeof TurnBody>

export const InterruptBody = z.strictObject({ sessionId: AnyId })

/** The decision and its scope select a choice of the question; `choice` is its number. */
export const PermissionBody = z
  .strictObject({
    requestId: AnyId,
    decision: PermissionOutcome.optional(),
    scope: PermissionScope.optional(),
    choice: z.int().min(1).max(100).optional(),
    text: z.string().max(ARGUMENT_CHARACTERS).optional(),
  })
  .refine(({ decision, choice }) => decision !== undefined || choice !== undefined, {
    path: ['decision'],
  })
export type PermissionBody = z.infer<typeof PermissionBody>

/** Without a point, the Session is forked at its end. */
export const ForkBody = z
  .strictObject({ atSeq: z.int().nonnegative().optional(), turn: z.int().positive().optional() })
  .refine(({ atSeq, turn }) => atSeq === undefined || turn === undefined, { path: ['turn'] })
export type ForkBody = z.infer<typeof ForkBody>

/** Without a Turn, the last change is undone. */
export const UndoBody = z
  .strictObject({
    turn: z.int().positive().optional(),
    to: z.int().positive().optional(),
    force: z.boolean().default(false),
  })
  .refine(({ turn, to }) => turn === undefined || to === undefined, { path: ['to'] })
export type UndoBody = z.infer<typeof UndoBody>

export const RedoBody = z.strictObject({ force: z.boolean().default(false) })

export const DiffQuery = z.object({
  turn: z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .optional(),
  now: z.enum(['true', 'false']).default('false'),
})

export const RewindBody = z
  .strictObject({
    turn: z.int().positive(),
    files: z.boolean().default(false),
    conflicts: z.enum(['refuse', 'leave', 'overwrite']).default('refuse'),
    summary: z.boolean().default(false),
  })
  .refine(({ files, conflicts }) => files || conflicts === 'refuse', { path: ['conflicts'] })
export type RewindBody = z.infer<typeof RewindBody>

export const CompactBody = z.strictObject({ dryRun: z.boolean().default(false) })

/** The number of the last Event that a client has; -1 for none. */
export const EventsQuery = z.object({
  after_seq: z
    .string()
    .regex(/^(-1|\d{1,15})$/)
    .transform(Number)
    .default(-1),
  /** `log`: the Events as the Log has them, and the live notices. */
  form: z.enum(['api', 'log']).default('api'),
})

/** A page of the Log. */
export const LogQuery = z.object({
  before_seq: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(1000))
    .default(200),
})

export const MentionQuery = z.object({ text: z.string().max(NAME_CHARACTERS).default('') })

/** With a key, sending it again to the same server adds nothing. */
export const SteerBody = z.strictObject({
  sessionId: AnyId,
  text: z.string(),
  messageKey: WaitingMessage.shape.messageKey.optional(),
})

export const WaitingParam = z.object({
  id: SessionId,
  message_key: WaitingMessage.shape.messageKey,
})
export const AddedMessage = WaitingMessage.omit({ refused: true })
export const ChangedMessage = z.strictObject({
  text: WaitingMessage.shape.text.optional(),
  attachments: z.array(DraftAttachment).max(MOST_PATHS).optional(),
  mentions: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS).optional(),
  skills: z.array(Name).max(MOST_SKILLS).optional(),
  choices: MessageChoices.optional(),
})
export const QueueOrder = z.strictObject({
  messageKeys: z.array(WaitingMessage.shape.messageKey).max(MOST_PATHS),
})

/** Of `newSecret`; any other text is a wrong one. */
const Secret = z.string().max(NAME_CHARACTERS)

export const PageCode = z.strictObject({ code: Secret })
export const ControlBody = z.strictObject({ control: Secret })
/** Applies what was stored for Telegram, or finds the chat of a code; always returns the state. */
export const TelegramControl = z.strictObject({
  control: Secret,
  reload: z.literal('yes').optional(),
  code: z.string().max(NAME_CHARACTERS).optional(),
})
