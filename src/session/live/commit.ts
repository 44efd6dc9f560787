import type { Redactor } from '../../encoding/redaction.ts'
import type { LogPlace } from '../../log/place.ts'
import { failed, type HawserError, type Result } from '../../model/errors.ts'
import type { EphemeralEvent, EventDraft, WholeEvent } from '../../model/events/event.ts'
import { notice } from '../../model/events/notice.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { PendingResults, type Commit } from '../../turn/parts/pending-results.ts'
import { ResourceNames } from '../../turn/parts/resource-names.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { SessionQuestions } from '../questions/session-questions.ts'

/**
 * Events without keys. A commit has four stages, from the caller to the disk: results that wait join it, keys are redacted,
 * the Log appends, and answers are acknowledged. The types allow no other order: the first two take drafts, redaction alone
 * makes these, and the last two take nothing else.
 */
export class RedactedDrafts {
  readonly #drafts: readonly EventDraft[]

  constructor(redactor: Redactor, drafts: readonly EventDraft[]) {
    this.#drafts = redactor.value(drafts)
  }

  /** As Events of this Turn, or of none. */
  of(turn: TurnId | undefined): readonly EventDraft[] {
    if (turn === undefined) return this.#drafts
    return this.#drafts.map((draft): EventDraft => ({ ...draft, turn_id: turn }))
  }
}

/** The stages that a Log has. */
export interface CommitStages {
  readonly redact: (drafts: readonly EventDraft[]) => RedactedDrafts
  readonly append: Append
}

type Append = (drafts: RedactedDrafts) => Promise<Result<void>>

/** Without results and answers, which only a Turn has. */
export function plainCommit({ redact, append }: CommitStages): Commit {
  return async (drafts) => append(redact(drafts))
}

/** The Log of the Session whose Turn it is. */
interface OwnLog extends Pick<TurnParts['log'], 'recordedText' | 'positionOf'> {
  readonly id: SessionId
  readonly events: readonly WholeEvent[]
  readonly publish: (event: EphemeralEvent) => void
}

interface TurnAccess
  extends CommitStages, Pick<TurnParts['log'], 'turn' | 'store' | 'resourceNamed'> {
  readonly place: Pick<LogPlace, 'ids' | 'clock'>
  readonly questions: Pick<SessionQuestions, 'noteRecord'>
}

/** The part of the Log that a Turn uses. */
export interface TurnLog {
  readonly log: TurnParts['log']
  /** Its commit without the results that wait. */
  readonly record: Commit
}

export function turnLog(
  log: OwnLog,
  { redact, append, questions, place: { ids, clock }, ...given }: TurnAccess,
): TurnLog {
  const { turn } = given
  const recordedText = (text: string) => log.recordedText(text)
  const record = plainCommit({ redact, append: reportingDecisions(append, questions) })
  const results = new PendingResults({ commit: record, clock, recordedText })
  const events = () => log.events
  const own: TurnParts['log'] = {
    ...given,
    session: log.id,
    events,
    commit: results.commit,
    results,
    recordedText,
    publish: (event) => log.publish({ ...event, session_id: log.id, turn_id: turn }),
    names: new ResourceNames(ids, events),
    positionOf: (seq) => log.positionOf(seq),
    clock,
  }
  return { log: own, record }
}

/** Acknowledges answers once their decisions are durable. Questions are redacted, and so are the decisions here. */
function reportingDecisions(
  append: Append,
  questions: Pick<SessionQuestions, 'noteRecord'>,
): Append {
  return async (drafts) => {
    const recorded = await append(drafts)
    for (const { type, data } of drafts.of(undefined))
      if (type === 'permission_decision') questions.noteRecord(data, recorded)
    return recorded
  }
}

/** The notice for a head that could not be written to `$HAWSER_HOME`, with the next step. */
export function headNotice(
  { message }: HawserError,
  { heads }: Pick<LogPlace, 'heads'>,
): EventDraft {
  const text =
    `${message} Nothing is lost and the Session continues, but a truncated Log would not be detected. ` +
    `Free space in ${heads.label} or make it writable; the next Turn tries again.`
  return notice('head_not_written', text)
}

/** The error of a change that only the head could bring into force. */
export function notCovered({ heads }: Pick<LogPlace, 'heads'>): HawserError {
  const message =
    'The head of the Log could not be written, so the change is not in force: it would not survive a restart.'
  const action = `Free space in ${heads.label} or make it writable, then make the change again.`
  return failed('storage_failed', message, {}, [{ action }]).error
}
