import type { Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import type { TurnId } from '../../model/ids.ts'
import type { ResolvedAttachment } from '../../resources/resolve-attachments.ts'
import type { ResolvedMentions } from '../../resources/mentions.ts'
import type { TurnPreparation } from '../../turn/open.ts'
import type { TurnNotice, TurnParts } from '../../turn/parts/turn-parts.ts'
import type { TurnOutcome } from '../../turn/run.ts'
import type { AdmitOptions } from '../admission/admit-options.ts'
import type { FreshBlobs } from '../admission/fresh-blobs.ts'

/** Appends Events that belong to no Turn. */
export type RecordEvents = (drafts: readonly EventDraft[]) => Promise<Result<void>>

/** Shows a live notice that belongs to no Turn. */
export type PublishNotice = (notice: TurnNotice) => void

/** Runs a Turn with this message and purpose under the lock that is already held, and returns its id when it has ended. */
export type AskModel = (text: string, purpose: 'summary') => Promise<Result<TurnId>>

/** A Turn whose opening Events are durable, ready to run. */
export interface BegunTurn {
  readonly turn: TurnId
  readonly run: () => Promise<Result<TurnOutcome>>
  /** It began before a crash. */
  readonly continued?: true
}

/** What running a Turn needs of its opening. */
export interface OpenedTurn
  extends Pick<TurnParts, 'log'>, Pick<TurnParts['person'], 'steering' | 'signal'> {
  readonly preparation: TurnPreparation
  readonly continued?: true
}

/** The input of a Turn, with its resolved attachments. */
export interface TurnRequest extends Required<Pick<AdmitOptions, 'views'>> {
  readonly text: string
  readonly resolved: readonly ResolvedAttachment[]
  readonly mentioned: ResolvedMentions
  readonly options: AdmitOptions
  readonly signal: AbortSignal
  readonly fresh: FreshBlobs
  readonly purpose?: TurnPreparation['purpose']
}
