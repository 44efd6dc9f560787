import type { TurnResult } from '../../history/results/turn-result.ts'
import type { AttachmentError, AttachmentInput, MentionInput } from '../../model/attachment.ts'
import type { Result } from '../../model/errors.ts'
import type { EventData } from '../../model/events/event.ts'
import type { SkillRequest } from '../../model/events/context-source.ts'
import type { TurnId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { WhenBusy } from './admissions.ts'
import type { SettingsChange } from './settings-change.ts'

export type { TurnResult } from '../../history/results/turn-result.ts'

/** What a message brings besides its text, and what to do if a Turn is running. */
export interface AdmitOptions {
  readonly whenBusy?: WhenBusy
  /** The presenter that received the message. Default: the one of this process. */
  readonly presenter?: string
  readonly channel?: string
  /** The author, as named by their chat. */
  readonly user?: { readonly id: string; readonly name: string }
  /** Identifies the message: the same key never runs twice in a Session. */
  readonly messageKey?: string
  /**
   * Given by the caller that accepted the message durably and knows that nothing of its answer was shown. If its Turn was left
   * open by a crash before the model had answered, and this returns true under the lock, the Turn continues. Otherwise it
   * ends.
   */
  readonly continues?: () => boolean
  /**
   * Asked each time another process has the Log when this Turn is to begin: whether to try again. Turns that wait behind it keep
   * their order. Without it, the Turn is refused with `session_busy`.
   */
  readonly waitsForLock?: () => boolean
  /** Recorded before the Turn starts. They stay in force after it. */
  readonly settings?: SettingsChange
  /** Files that belong to the text, in this order. They are read immediately, even if the Turn has to wait. */
  readonly attachments?: readonly AttachmentInput[]
  /** `store`: files of other types are stored as kind `file`, which is never shown. `refuse` by default. */
  readonly otherTypes?: 'refuse' | 'store'
  /** Files and folders of the workspace whose content belongs to the text, as it is now. Text alone names none. */
  readonly mentions?: readonly MentionInput[]
  /** Text from standard input. */
  readonly piped?: string | undefined
  /** Handles in the person's message. Each one adds a view of that Resource. */
  readonly views?: readonly string[]
  /** Skills to activate in this order, and what to hydrate for them. */
  readonly skills?: readonly SkillRequest[]
  /** Who asks for them. Default: the person. */
  readonly skillsBy?: 'person' | 'presenter'
  /** Facts that the presenter adds. Never authoritative. */
  readonly presenterContext?: Readonly<Record<string, string>> | undefined
}

/** A Turn whose request is durable: it is acknowledged, and it will end. */
export interface AdmittedTurn {
  readonly turn: TurnId
  /** Resolves when the end of the Turn is in the Log. */
  readonly done: Promise<Result<TurnResult>>
  /** Its attachments that were refused, in input order. Absent if the message came before. */
  readonly refused?: readonly RefusedAttachment[]
  /** Its Turn began before a crash and continues. */
  readonly continued?: true
  /** A message with the same key came before: this is its Turn, and nothing was started. */
  readonly repeated?: true
}

/** `given` is what the client sent; it is returned to that client only. */
export interface RefusedAttachment {
  readonly given: string
  readonly error: AttachmentError
}

/** Who sent the message, for the Log. `usual` is the presenter of this process. */
export function turnSource(
  { presenter, channel, user, messageKey: message_key }: AdmitOptions,
  usual: string,
): EventData<'turn_started'>['source'] {
  return {
    presenter: presenter ?? usual,
    ...definedFields({ channel, user, message_key }),
  }
}
