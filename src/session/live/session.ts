import type { SessionResource } from '../../history/session-resources.ts'
import { failed, type Failed, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { PermissionMode } from '../../model/modes.ts'
import type { OpenQuestions } from '../questions/session-questions.ts'
import type { SessionUpdate, StreamOptions } from '../watch/session-stream.ts'
import type { Subscription } from '../watch/subscribe.ts'
import type { AdmitOptions, AdmittedTurn } from '../admission/admit-options.ts'
import type { LiveSession } from './live-session.ts'
import type { LockedSession } from './locked-compaction.ts'
import type { SessionRules } from './session-rules.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import { modeOfCalls, type SessionState } from './state.ts'

export interface ClientOptions {
  /** The client can answer permission questions. While such a client is attached, questions wait. */
  readonly answers?: boolean
}

/** What the registry does for a client. */
interface Registration {
  /** No other client is attached. Only after this one has left. */
  readonly isLast: () => boolean
  /** Resolves when the Session is closed, or at once if other clients stay. */
  readonly left: () => Promise<void>
}

/**
 * A Session as one client sees it. Clients in one process share Turns, their queue, questions and everything that happens;
 * each leaves by itself.
 */
export class Session {
  readonly id: SessionId
  readonly #live: LiveSession
  readonly #registration: Registration
  readonly #cannotAnswer: () => void
  /** Ends what this client watches. */
  readonly #streams = new Set<() => void>()
  #leaving: Promise<void> | undefined

  constructor(live: LiveSession, { answers = false }: ClientOptions, registration: Registration) {
    this.id = live.id
    this.#live = live
    this.#registration = registration
    this.#cannotAnswer = answers ? live.questions.attach() : () => {}
  }

  get state(): SessionState {
    return this.#live.state
  }

  get events(): readonly WholeEvent[] {
    return this.#live.events
  }

  /** A Turn is running in this process, from whichever client. */
  get busy(): boolean {
    return this.#live.busy
  }

  /** The number of the next Event. */
  get nextSeq(): number {
    return this.#live.nextSeq
  }

  /** The permission mode that applies to calls: the recorded one, limited to read-only in plan mode. */
  get permissionMode(): PermissionMode {
    return modeOfCalls(this.state)
  }

  /** The person's permission rules. Rules of this Session end with the process. */
  get rules(): SessionRules {
    return this.#live.rules
  }

  /** The permission questions that wait for an answer. */
  get questions(): OpenQuestions {
    return this.#live.questions
  }

  /** Reads the Events after those already known. */
  catchUp(): Promise<Result<void>> {
    return this.#live.catchUp()
  }

  /** The Resource with that handle, also from before a checkpoint. */
  resourceNamed(handle: string): Promise<Result<SessionResource | undefined>> {
    return this.#live.resourceNamed(handle)
  }

  /** The position of an Event in the Log, if it starts a Turn or is the next one. */
  placeOf(seq: number): ReturnType<LiveSession['placeOf']> {
    return this.#live.placeOf(seq)
  }

  /** Resolves when the request is durable, or with the reason why it was refused. */
  async admit(typed: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    return this.#leaving === undefined ? this.#live.admit(typed, options) : hasLeft()
  }

  /** Runs `work` under the lock, between Turns. Fails with `turn_in_progress` while a Turn runs. */
  async between<T>(work: (locked: LockedSession) => Promise<Result<T>>): Promise<Result<T>> {
    return this.#leaving === undefined ? this.#live.between(work) : hasLeft()
  }

  /** See `LiveSession.runCommand`. */
  async runCommand(typed: string): Promise<Result<EventData<'shell_result'>>> {
    return this.#leaving === undefined ? this.#live.runCommand(typed) : hasLeft()
  }

  /** Ends the running Turn at its next step. Its unfinished calls get results that report the interruption. */
  interrupt(limit?: number): void {
    if (this.#leaving === undefined) this.#live.interrupt(limit)
  }

  /**
   * Adds text to the running Turn, before its next request to the model; it is always recorded. Returns false if no
   * Turn accepts text any more; nothing is recorded then.
   */
  steer(typed: string): boolean {
    return this.#leaving === undefined && this.#live.steer(typed)
  }

  /** See `LiveSession.change`. */
  async change(change: SettingsChange): Promise<Result<void>> {
    return this.#leaving === undefined ? this.#live.change(change) : hasLeft()
  }

  /**
   * Every Event after number `after_seq`, then everything that happens, until `signal` aborts or this client leaves. Uses
   * little memory, however slowly it is read. Every reader receives the open questions, also one that comes later.
   */
  async *stream({ after_seq, signal }: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    if (this.#leaving !== undefined) return
    const stop = new AbortController()
    const end = () => stop.abort()
    if (signal?.aborted === true) end()
    signal?.addEventListener('abort', end)
    this.#streams.add(end)
    try {
      yield* this.#live.stream({ after_seq, signal: stop.signal })
    } finally {
      signal?.removeEventListener('abort', end)
      this.#streams.delete(end)
    }
  }

  subscribe(): Subscription {
    const close = () => subscription.close()
    const subscription = this.#live.subscribe(() => this.#streams.delete(close))
    this.#streams.add(close)
    if (this.#leaving !== undefined) close()
    return subscription
  }

  /** Leaves. A running Turn continues, and its Session is closed after it, unless other clients stay. */
  async detach(): Promise<void> {
    this.#leaving ??= this.#leave()
    // A client that detaches does not wait for a Turn.
    if (!this.#live.hasWork) await this.#leaving
    this.#endStreams()
  }

  /** Leaves. If no other client stays, a running Turn is interrupted, and its end is in the Log when this resolves. */
  async close(): Promise<void> {
    this.#leaving ??= this.#leave(() => {
      if (this.#registration.isLast()) this.#live.end()
    })
    await this.#leaving
    this.#endStreams()
  }

  async #leave(then: () => void = () => {}): Promise<void> {
    const left = this.#registration.left()
    then()
    this.#cannotAnswer()
    await left
  }

  #endStreams(): void {
    for (const end of this.#streams) end()
  }
}

function hasLeft(): Failed {
  return failed('invalid_args', 'This client has left the Session; open it again.')
}
