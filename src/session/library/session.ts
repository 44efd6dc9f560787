import * as z from 'zod'
import type { TurnResult } from '../../history/results/turn-result.ts'
import type { Result } from '../../model/errors.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import type { Harness, Proof } from '../harness.ts'
import type { AdmitOptions } from '../admission/admit-options.ts'
import type { UndoneCompaction } from '../live/compaction.ts'
import type { CompactionOutcome, CompactOptions } from '../live/locked-compaction.ts'
import type { Session } from '../live/session.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import type { SessionState } from '../live/state.ts'
import type { ListedResource } from '../queries/resources.ts'
import type { ChosenAnswer, Question } from '../questions/session-questions.ts'
import type { SessionUpdate, StreamOptions } from '../watch/session-stream.ts'
import { Admit, ChoiceInput, refusedInput, Settings } from './inputs.ts'

/** A Turn whose message is durable. */
export interface StartedTurn {
  readonly turn: TurnId
  /** Resolves when the end of the Turn is in the Log. */
  readonly done: Promise<Result<TurnResult>>
}

/**
 * One client of a Session. Several clients of one process share its Turns, their queue and its questions, and see the same;
 * other processes may write to it between Turns. Close or detach each client.
 */
export class LibrarySession {
  readonly #harness: Harness
  readonly #session: Session

  constructor(harness: Harness, session: Session) {
    this.#harness = harness
    this.#session = session
  }

  get id(): SessionId {
    return this.#session.id
  }

  /** Settings, title and counters, as far as this process has read the Log. */
  get state(): SessionState {
    return this.#session.state
  }

  /** A Turn is running in this process, from whichever client. */
  get busy(): boolean {
    return this.#session.busy
  }

  /** The number of the last Event, for `stream`. */
  get lastSeq(): number {
    return this.#session.nextSeq - 1
  }

  /** The permission questions that wait for an answer, the oldest first. */
  get questions(): readonly Question[] {
    return this.#session.questions.open
  }

  /**
   * Starts a Turn. Resolves when the message is durable, or with the reason why it was refused. While a Turn runs:
   * `turn_in_progress`, unless `whenBusy` says otherwise.
   */
  async admit(text: string, options: AdmitOptions = {}): Promise<Result<StartedTurn>> {
    const refused = refusedInput(z.string(), text) ?? refusedInput(Admit, options)
    if (refused !== undefined) return refused
    return this.#session.admit(text, options)
  }

  /**
   * Every Event after number `after_seq` (-1 for all), then everything that happens, until `signal` aborts or this client
   * leaves. Uses little memory, however slowly it is read.
   */
  stream(options: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    return this.#session.stream(options)
  }

  /**
   * Answers a question by the number of a choice. The first answer counts: later ones are `question_closed`. Resolves when
   * the decision is durable.
   */
  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    return refusedInput(ChoiceInput, answer) ?? this.#session.questions.answer(request_id, answer)
  }

  /** Adds text to the running Turn. Returns false, and records nothing, if no Turn accepts text any more. */
  steer(text: string): boolean {
    return this.#session.steer(text)
  }

  /** Ends the running Turn at its next step. */
  interrupt(): void {
    this.#session.interrupt()
  }

  /** Changes settings at the request of a person. They are recorded, and stay. */
  async change(settings: SettingsChange): Promise<Result<void>> {
    return refusedInput(Settings, settings) ?? this.#session.change(settings)
  }

  /** Records a checkpoint, or returns why there is none. */
  compact(options: CompactOptions = {}): Promise<Result<CompactionOutcome>> {
    return this.#harness.compact(this.#session, options)
  }

  undoCompaction(): Promise<Result<UndoneCompaction>> {
    return this.#harness.undoCompaction(this.#session)
  }

  /** Verifies every byte of the Log; with `requests`, also composes every sent request again and compares it. */
  verify({ requests = false }: { readonly requests?: boolean } = {}): Promise<Result<Proof>> {
    return this.#harness.verify(this.id, { requests })
  }

  /** The Resources of the Session in the order in which they were attached. */
  resources(): Promise<Result<readonly ListedResource[]>> {
    return this.#harness.resources(this.#session)
  }

  resourceBytes(handle: string): Promise<Result<Buffer>> {
    return this.#harness.resourceBytes(this.#session, handle)
  }

  /** Leaves. A running Turn continues. */
  detach(): Promise<void> {
    return this.#session.detach()
  }

  /** Leaves. If no other client stays, a running Turn is interrupted, and its end is in the Log when this resolves. */
  close(): Promise<void> {
    return this.#session.close()
  }
}
