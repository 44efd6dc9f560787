import type { AttachmentInput } from '../../../../model/attachment.ts'
import type { HawserError, Result } from '../../../../model/errors.ts'
import type { ModelRow } from '../../../../model/model-facts.ts'
import type { Theme } from '../../../../model/settings.ts'
import type { SessionId } from '../../../../model/ids.ts'
import type { Harness } from '../../../../session/harness.ts'
import type { ListedSession } from '../../../../session/queries/list.ts'
import type { Session } from '../../../../session/session.ts'
import type { InstalledSkills } from '../../../../session/workspace/installed-skills.ts'
import type { ModelChoice } from '../../../../session/surface/surface-parts.ts'
import type { Line } from '../../text/cell-width.ts'
import type { Enclosures } from '../../input/attachment-arguments.ts'
import type { Confirm } from '../../question/own-questions.ts'
import type { PickOne } from '../../pick/picking.ts'
import type { DrawResource } from '../../render/pictures.ts'
import type { ReadSessionEnd } from '../../pick/session-pick.ts'
import type { ListFolder } from '../../suggest/outside-folder.ts'
import type { ListFiles } from '../../suggest/file-index.ts'
import type { MessageQueue } from './message-queue.ts'
import type { PendingAttachment, PendingAttachments } from './pending-attachments.ts'

/** The actions of a chat besides those of its Session. The caller assembles them; an absent one is not supported. */
export interface ChatActions {
  readonly sessions: () => Promise<readonly ListedSession[]>
  readonly open: (id: SessionId) => Promise<Result<Session>>
  /** Takes effect with the next Turn. Returns a warning if there is one. */
  readonly setModel?: (session: Session, choice: ModelChoice) => Promise<Result<string | undefined>>
  /** A warning about a model that a person named, or the reason why it is refused. */
  readonly judgeModel?: (choice: ModelChoice) => Result<string | undefined>
  /** The models to choose from. */
  readonly models?: () => readonly ModelRow[]
  /** What a list of Sessions does not have. */
  readonly sessionEnd?: ReadSessionEnd
  readonly skills?: ChatSkills
  readonly fork?: (session: Session) => Promise<Result<Session>>
  /** Creates a Session with the settings of this one. */
  readonly begin?: (like: Session) => Promise<Result<Session>>
  /** Stores the theme for every chat of this user. */
  readonly storeTheme?: (theme: Theme) => Promise<Result<void>>
  /** Copies text with a program of this machine, and returns its name; `undefined` if there is none that works. */
  readonly copy?: (text: string) => Promise<string | undefined>
  /** Writes a Session to a file, which must not exist. */
  readonly export?: (
    id: SessionId,
    format: ExportName,
    path: string,
  ) => Promise<Result<FinishedExport>>
  /** The file with project instructions at the root of the workspace; `undefined` if there is none. */
  readonly ownInstructions?: () => Promise<string | undefined>
  /** Checks a path, a URL or `clipboard`. */
  readonly attach?: (named: string) => Promise<Result<PendingAttachment>>
  /** Resolves the `@` words of a message, given what is already attached to it. */
  readonly resolveWords?: (
    text: string,
    session: Session,
    attached: readonly AttachmentInput[],
  ) => Promise<Enclosures>
  /** Lists the files of the workspace, for completion: paths as `resolveWords` finds them. */
  readonly listFiles?: ListFiles
  /** Lists a folder as typed, such as `~/`. */
  readonly listFolder?: ListFolder
  /** Describes an image by its path as typed; empty if it is not an image. */
  readonly describeImage?: (path: string) => Promise<string>
  /** Lets the person edit a text in their editor, which has the terminal meanwhile. */
  readonly editText?: (text: string) => Promise<Result<string>>
  /** Stops the program until the shell continues it. */
  readonly suspend?: () => Promise<void>
  /** The git branch of the workspace; `undefined` if there is none. */
  readonly branch?: () => Promise<string | undefined>
  /** Passes every Event of a Session to `visit`, also those from before a checkpoint. */
  readonly read?: Harness['read']
  /** Absent if the terminal cannot show images. */
  readonly draw?: DrawResource
}

export type ExportName = 'markdown' | 'html' | 'json'

/** A finished export. */
export interface FinishedExport {
  /** Absolute. */
  readonly path: string
  readonly events: number
  readonly bytes: number
  /** Why it ends early. */
  readonly damage?: HawserError | undefined
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

/** What a command sees of the theme. */
export interface ThemeChoice {
  readonly theme: Theme
  /** Shows another one, until the chat ends. */
  readonly show: (theme: Theme) => void
}

/** What a command can use. */
export interface CommandContext {
  readonly session: Session
  readonly actions: ChatActions
  /** The attachments for the next message. */
  readonly attachments: PendingAttachments
  readonly columns: number
  /** A Turn is running. */
  readonly busy: boolean
  /** Asks the person a question with yes and no. */
  readonly confirm: Confirm
  /** What a picker shows changed. */
  readonly redraw: () => void
  /** Lets the person choose from a list. */
  readonly pick: PickOne
  readonly colours: ThemeChoice
  /** The messages that wait for the end of the Turn. */
  readonly queue: MessageQueue
  /** Says what takes long, until the command ends. */
  readonly progress: (text: string) => void
}

/** The output of a command, and what the chat does next. */
export interface CommandResult {
  readonly rows: readonly Line[]
  readonly goTo?: Session
  /** A text to edit in the input. */
  readonly draft?: string
  readonly leave?: true
  /** The person chooses a message to go back to. */
  readonly goesBack?: true
  /** The screen is cleared before anything is printed. */
  readonly clears?: true
  /** A text for the clipboard of the terminal. */
  readonly copies?: string
  /** A message, sent as if the person had typed it, to the Session that is shown then. */
  readonly send?: string
}
