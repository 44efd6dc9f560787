import * as z from 'zod'
import { LIMITS } from '../limits.ts'
import { PermissionMode, SessionMode } from '../modes.ts'
import { Effort } from '../settings.ts'

/** What a person prepared and a server keeps: drafts, and messages that wait. Clients send it, so nothing in it is trusted. */

const PATH_CHARACTERS = 4096
const NAME_CHARACTERS = 200
const MOST_PATHS = 100
const MOST_SKILLS = 20

/** A file for a message. The server decides what it is from `path`; everything else serves its preview only. */
export const DraftAttachment = z.strictObject({
  path: z.string().min(1).max(PATH_CHARACTERS),
  name: z.string().min(1).max(NAME_CHARACTERS),
  sizeBytes: z.int().nonnegative().optional(),
  mediaType: z.string().max(NAME_CHARACTERS).optional(),
})
export type DraftAttachment = z.infer<typeof DraftAttachment>

/** Settings for a message; an absent one does not change. */
export const MessageChoices = z.strictObject({
  model: z.string().min(1).max(NAME_CHARACTERS).optional(),
  effort: Effort.optional(),
  mode: SessionMode.optional(),
  permissionMode: PermissionMode.optional(),
})
export type MessageChoices = z.infer<typeof MessageChoices>

const Content = {
  text: z.string().max(LIMITS.user_text_bytes),
  attachments: z.array(DraftAttachment).max(MOST_PATHS).default([]),
  /** Files and folders of the workspace, relative to it. */
  mentions: z.array(z.string().max(PATH_CHARACTERS)).max(MOST_PATHS).default([]),
  /** The names of Skills to activate. */
  skills: z.array(z.string().min(1).max(NAME_CHARACTERS)).max(MOST_SKILLS).default([]),
  choices: MessageChoices.prefault({}),
}

const MessageKey = z.string().min(1).max(LIMITS.message_key_bytes)

/** The selection in a text, in UTF-16 units. */
const Caret = z
  .strictObject({ start: z.int().nonnegative(), end: z.int().nonnegative() })
  .default({ start: 0, end: 0 })

/** A message that was sent and is not acknowledged yet. Sending it again with its key is safe. */
const UnconfirmedMessage = z.strictObject({
  messageKey: MessageKey,
  ...Content,
  /** As it was, for a message that is refused and returns to the composer. */
  caret: Caret,
})

/** What a person typed into a Session and did not send. */
export const MessageDraft = z.strictObject({
  ...Content,
  caret: Caret,
  unconfirmed: z.array(UnconfirmedMessage).max(LIMITS.session_waiting_turns).default([]),
})
export type MessageDraft = z.infer<typeof MessageDraft>

/** A message that the server sends when the Turns before it have ended. */
export const WaitingMessage = z.strictObject({
  messageKey: MessageKey,
  ...Content,
  /** Why it could not be sent. The queue waits until it is changed or removed. */
  refused: z.strictObject({ kind: z.string(), message: z.string() }).optional(),
})
export type WaitingMessage = z.infer<typeof WaitingMessage>
