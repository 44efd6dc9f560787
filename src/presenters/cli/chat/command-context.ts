import type { AttachmentInput } from '../../../model/attachment.ts'
import type { Result } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { ListedResource } from '../../../session/queries/resources.ts'
import type { ModelChoice, Session } from '../../../session/live/session.ts'
import type { Line } from '../text/cell-width.ts'
import type { Enclosed } from '../input/given-attachments.ts'
import type { DrawResource } from '../render/pictures.ts'
import type { Attached, Attachments } from './attached.ts'

/** What a chat can do besides talking, as far as its parts exist; the caller puts it together. */
export interface ChatActions {
  readonly sessions: () => Promise<readonly ListedSession[]>
  readonly open: (id: SessionId) => Promise<Result<Session>>
  /** These show what they did by the Events they write. */
  readonly undo?: (session: Session) => Promise<Result<unknown>>
  readonly compact?: (session: Session) => Promise<Result<unknown>>
  /** From the next Turn on. Answers with a warning, if there is one. */
  readonly setModel?: (session: Session, choice: ModelChoice) => Promise<Result<string | undefined>>
  readonly fork?: (session: Session) => Promise<Result<Session>>
  /** Judges what a person named: a path, a URL or `clipboard`. */
  readonly attach?: (named: string) => Promise<Result<Attached>>
  /** What a message means by its `@` words, together with what is attached to it. */
  readonly enclosed?: (
    text: string,
    session: Session,
    attached: readonly AttachmentInput[],
  ) => Promise<Enclosed>
  readonly resources?: (session: Session) => Promise<Result<readonly ListedResource[]>>
  /** Where the terminal can show images. */
  readonly draw?: DrawResource
}

/** What a command works with. */
export interface Here {
  readonly session: Session
  readonly actions: ChatActions
  /** Goes with the next message. */
  readonly attached: Attachments
  readonly columns: number
  /** A Turn runs. */
  readonly busy: boolean
}

/** What a command answers, and what the chat is to do then. */
export interface Done {
  readonly rows: readonly Line[]
  readonly goTo?: Session
  readonly leave?: true
}
