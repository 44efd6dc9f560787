import type { AttachmentInput } from '../../../model/attachment.ts'
import type { Result } from '../../../model/errors.ts'
import type { SessionId } from '../../../model/ids.ts'
import type { Harness } from '../../../session/harness.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { Session } from '../../../session/session.ts'
import type { InstalledSkills } from '../../../session/workspace/installed-skills.ts'
import type { ModelChoice } from '../../../session/surface/surface-parts.ts'
import type { Line } from '../text/cell-width.ts'
import type { Enclosures } from '../input/attachment-arguments.ts'
import type { Confirm } from '../question/own-questions.ts'
import type { DrawResource } from '../render/pictures.ts'
import type { ListFiles } from '../suggest/file-index.ts'
import type { PendingAttachment, PendingAttachments } from './pending-attachments.ts'

/** The actions of a chat besides those of its Session. The caller assembles them; an absent one is not supported. */
export interface ChatActions {
  readonly sessions: () => Promise<readonly ListedSession[]>
  readonly open: (id: SessionId) => Promise<Result<Session>>
  /** Takes effect with the next Turn. Returns a warning if there is one. */
  readonly setModel?: (session: Session, choice: ModelChoice) => Promise<Result<string | undefined>>
  readonly skills?: ChatSkills
  readonly fork?: (session: Session) => Promise<Result<Session>>
  /** Checks a path, a URL or `clipboard`. */
  readonly attach?: (named: string) => Promise<Result<PendingAttachment>>
  /** Resolves the `@` words of a message, given what is already attached to it. */
  readonly enclosed?: (
    text: string,
    session: Session,
    attached: readonly AttachmentInput[],
  ) => Promise<Enclosures>
  /** Lists the files of the workspace, for completion: paths as `enclosed` finds them. */
  readonly listFiles?: ListFiles
  /** Absent if the terminal cannot show images. */
  readonly draw?: DrawResource
}

export interface ChatSkills {
  /** The Skills on disk now, sorted by name, and what is wrong with them. */
  readonly list: () => Promise<ChatSkillList>
  /** Runs `work` with what a person trusts in this workspace. */
  readonly trusting: TrustingSkills
}

export type TrustingSkills = <T>(
  work: (store: Pick<InstalledSkills, 'examine' | 'trust'>) => Promise<Result<T>>,
) => Promise<Result<T>>

export type ChatSkillList = Pick<Awaited<ReturnType<Harness['skills']>>, 'skills' | 'warnings'>
export type ChatSkill = ChatSkillList['skills'][number]

/** What a command can use. */
export interface CommandContext {
  readonly session: Session
  readonly actions: ChatActions
  /** The attachments for the next message. */
  readonly attached: PendingAttachments
  readonly columns: number
  /** A Turn is running. */
  readonly busy: boolean
  /** Asks the person a question with yes and no. */
  readonly confirm: Confirm
}

/** The output of a command, and what the chat does next. */
export interface CommandResult {
  readonly rows: readonly Line[]
  readonly goTo?: Session
  readonly leave?: true
}
