import type { SessionResource } from '../../history/session-resources.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { bufferedFiles } from '../../host/files/buffered-files.ts'
import { wait } from '../../host/wait.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventData, WholeEvent } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import type { Rule } from '../../model/rule.ts'
import { mayContinue, messageKeyOf } from '../../turn/continue.ts'
import { LEAVE_REASON, TimeLimit } from '../../turn/end.ts'
import type { TurnInput } from '../../turn/open.ts'
import type { CrashedTurn } from '../../turn/recover.ts'
import { resourceNamed } from '../reading/resource-named.ts'
import { Admissions } from '../admission/admissions.ts'
import { turnSource, type AdmitOptions, type AdmittedTurn } from '../admission/admit-options.ts'
import { refusedOf, resolveInputs, resolveNamed } from '../admission/attachments.ts'
import { FreshBlobs } from '../admission/fresh-blobs.ts'
import { KeyedTurns } from './keyed-turns.ts'
import type { LockedSession } from './locked-session.ts'
import { tooMuch, unfit } from '../admission/message-limits.ts'
import { SessionLog, type Writer } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionRules } from './session-rules.ts'
import { SessionQuestions } from '../questions/session-questions.ts'
import type { SessionUpdate, StreamOptions } from '../watch/session-stream.ts'
import { isSimple, simpleDrafts } from './session-settings.ts'
import { SessionTurns, type TurnPlace } from './session-turns.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import type { SessionState } from './state.ts'
import type { Subscription } from '../watch/subscribe.ts'

/** How long until the lock of another process is tried again. */
const LOOK_AGAIN_MS = 50

/**
 * One Session in this process, shared by its clients. The Log is locked from the admission of a Turn to its end. Between
 * Turns another process may write to it; those Events are read before the next Turn.
 */
export class LiveSession {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #log: SessionLog
  readonly #admissions: Admissions
  readonly #redactor: Redactor
  /** The person's permission rules. Rules of this Session end with the process. */
  readonly rules: SessionRules
  readonly questions: SessionQuestions
  readonly #keyedTurns: KeyedTurns
  readonly #turns: SessionTurns

  /**
   * `granted` are the person's rules for this Session in this process. `held` is the writer from the creation of the
   * Session, kept for the first Turn.
   */
  constructor(parts: SessionParts, id: SessionId, granted: Rule[], held?: Writer) {
    this.id = id
    this.#parts = parts
    const { log, person } = parts
    this.rules = new SessionRules(person.rules, granted)
    this.#log = new SessionLog(log, id, held)
    this.#redactor = new Redactor(log.secrets)
    this.#admissions = new Admissions(person.limits.waiting_turns)
    this.#keyedTurns = new KeyedTurns(log, this.#log)
    const { clock, ids } = log.place
    this.questions = new SessionQuestions({
      clock,
      ids,
      waitMs: person.limits.question_ms,
      publish: (event) => this.#log.publish(event),
      session: id,
      redact: (text) => this.#redactor.text(text),
    })
    const { rules, questions } = this
    const isNew = held !== undefined
    this.#turns = new SessionTurns(parts, { log: this.#log, rules, questions, isNew })
  }

  get state(): SessionState {
    return this.#log.state
  }

  get events(): readonly WholeEvent[] {
    return this.#log.events
  }

  get busy(): boolean {
    return this.#admissions.busy
  }

  /** A Turn is running or waiting, or a message is being admitted. */
  get hasWork(): boolean {
    return this.busy || this.#keyedTurns.any
  }

  /** The number of the next Event. */
  get nextSeq(): number {
    return this.#log.nextSeq
  }

  /** Reads the Events after those already known. */
  catchUp(): Promise<Result<void>> {
    return this.#log.catchUp()
  }

  /** The Resource with that handle, also from before a checkpoint. */
  resourceNamed(handle: string): Promise<Result<SessionResource | undefined>> {
    return resourceNamed(this.#parts.log, this.#log, handle)
  }

  /** The position of an Event in the Log, if it starts a Turn or is the next one. */
  positionOf(seq: number): ReturnType<SessionLog['positionOf']> {
    return this.#log.positionOf(seq)
  }

  /** Resolves when the request is durable, or with the reason why it was refused. */
  async admit(typed: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    const { messageKey } = options
    if (messageKey === undefined) return this.#admit(typed, options)
    return this.#keyedTurns.once(messageKey, () => this.#admit(typed, options))
  }

  async #admit(typed: string, options: AdmitOptions): Promise<Result<AdmittedTurn>> {
    const { attachments = [], views = [], mentions = [], piped: given, presenterContext } = options
    // Redact before the length check: the redacted text is what is recorded.
    const text = this.#redactor.text(typed)
    const piped = given === undefined ? undefined : this.#redactor.text(given)
    const hasMore = attachments.length + views.length > 0
    const refused = unfit(text, hasMore) ?? tooMuch(piped, options)
    if (refused !== undefined) return refused
    // Start reading now, but do not wait for it: Turns are admitted in the order of arrival, however long reading takes.
    const stop = new AbortController()
    const { log, tools, person } = this.#parts
    const { store, place: logs } = log
    const fresh = new FreshBlobs()
    const reading = resolveInputs({ store, clock: logs.clock }, attachments, {
      signal: stop.signal,
      redactor: this.#redactor,
      otherTypes: options.otherTypes ?? 'refuse',
      // A queued Turn may wait long, so its bytes are not held in memory but read again.
      ...(this.busy ? {} : { hold: (key, bytes) => fresh.hold(key, bytes) }),
    })
    const naming = resolveNamed(mentions, {
      files: bufferedFiles(tools.files, tools.buffers?.(this.id)),
      keep: (bytes, type) => store.put(bytes, type),
      redactor: this.#redactor,
      signal: stop.signal,
    })
    const place = await this.#admissions.enter(options.whenBusy ?? 'refuse', () => this.interrupt())
    if (!place.ok) {
      stop.abort()
      return place
    }
    place.value.signal.addEventListener('abort', () => stop.abort())
    const { signal, leave } = place.value
    return leavingUnless(leave, async () => {
      const resolved = await reading
      if (!resolved.ok) return resolved
      const named = await naming
      if (!named.ok) return named
      const input = {
        source: turnSource(options, person.presenter),
        text,
        attachments: resolved.value,
        mentions: named.value,
        views,
        piped,
        presenterContext,
      }
      const begun = await this.#begin(input, options, { signal, store: fresh.over(store) })
      if (!begun.ok) return begun
      if (begun.value.repeated === true) {
        leave()
        return begun
      }
      const done = begun.value.done.finally(leave)
      return ok({ ...begun.value, done, refused: refusedOf(resolved.value) })
    })
  }

  /** Runs `work` under the lock, between Turns. Fails with `turn_in_progress` while a Turn runs. */
  async between<T>(work: (locked: LockedSession) => Promise<Result<T>>): Promise<Result<T>> {
    const place = await this.#admissions.enter('refuse', () => {})
    if (!place.ok) return place
    try {
      const writer = await this.#log.acquire()
      if (!writer.ok) return writer
      try {
        return await work(this.#turns.lockedSession(writer.value, place.value.signal))
      } finally {
        await this.#log.release(writer.value)
      }
    } finally {
      place.value.leave()
    }
  }

  /**
   * Runs a command of the person in the sandbox, between Turns. Its end is in the Log when this resolves. Asks nothing, and
   * sends nothing: the next message shows it to the model. `turn_in_progress` while a Turn runs.
   */
  async runCommand(typed: string): Promise<Result<EventData<'shell_result'>>> {
    return this.between(async (locked) => {
      const { personCommand } = await import('../commands/person-command.ts')
      return personCommand(this.#parts, this.#log, locked, typed)
    })
  }

  /**
   * Ends the running Turn at its next step. Its unfinished calls get results that report the interruption. With the
   * seconds of a time limit that it reached, its end says so.
   */
  interrupt(limit?: number): void {
    this.#admissions.interrupt(limit === undefined ? undefined : new TimeLimit(limit))
  }

  /**
   * Adds text to the running Turn, before its next request to the model; it is always recorded. Returns false if no
   * Turn accepts text any more; nothing is recorded then.
   */
  steer(typed: string): boolean {
    const text = this.#redactor.text(typed)
    return unfit(text, false) === undefined && this.#turns.steer(text)
  }

  /** Withdraws text of `steer`. Returns false if it is already recorded, or about to be. */
  unsteer(typed: string): boolean {
    return this.#turns.unsteer(this.#redactor.text(typed))
  }

  /**
   * Changes settings at the request of a person, which is the only way to widen a mode. They are recorded and in force when
   * this resolves. A mode applies to the next call of a running Turn, and the model is informed in its next Turn. A model or
   * effort applies from the next Turn on; while one runs, that is `turn_in_progress`, and so is any change while a message is
   * being admitted or a compaction runs.
   */
  async change(change: SettingsChange): Promise<Result<void>> {
    if (Object.values(change).every((one) => one === undefined)) return ok(undefined)
    const { record: running } = this.#turns
    if (running === undefined || !isSimple(change))
      return this.between(({ record }) => this.#turns.recordSettings(change, record))
    // At once: the Turn may end at any moment, and release the lock.
    const drafts = simpleDrafts(this.state, change)
    if (!drafts.ok) return drafts
    return drafts.value.length === 0 ? ok(undefined) : running(drafts.value)
  }

  /**
   * Every Event after number `after_seq`, then everything that happens, until `signal` aborts or the Session is closed.
   * Uses little memory, however slowly it is read.
   */
  stream({ after_seq, signal }: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    return this.#log.stream(after_seq, () => this.questions.updates, signal)
  }

  /** `ended` is called when the subscription has ended. */
  subscribe(ended?: () => void): Subscription {
    return this.#log.subscribe(ended)
  }

  /**
   * Interrupts the running Turn and refuses those that wait; with `forever`, also those that come later. With `leaves`, a Turn
   * that the next process can continue has no end.
   */
  end({ forever = false, leaves = false } = {}): void {
    if (forever) this.#admissions.close()
    this.#keyedTurns.refuseLookups()
    this.#admissions.refuseWaiting()
    this.#admissions.interrupt(leaves ? LEAVE_REASON : undefined)
  }

  /** Resolves when no Turn is running or waiting, and none can start any more if all clients have left. */
  async idle(): Promise<void> {
    await this.#keyedTurns.untilSettled()
    await this.#admissions.idle()
  }

  /** Only when idle and without clients. */
  async close(): Promise<void> {
    await this.#leaveProvider()
    await this.#log.close()
  }

  /** Closes the connections that the provider holds open for this Session. */
  async #leaveProvider(): Promise<void> {
    if (this.state.turns === 0) return
    const provider = await this.#parts.model.providerOf(this.state.provider)
    if (provider.ok) provider.value.leave?.(this.id)
  }

  /** Takes the lock. If the message waits for it, as soon as another process releases it. */
  async #acquireInTime(
    { waitsForLock }: AdmitOptions,
    signal: AbortSignal,
    continues: Parameters<SessionLog['acquire']>[0],
  ): Promise<Result<Writer>> {
    for (;;) {
      const writer = await this.#log.acquire(continues)
      if (writer.ok || writer.error.kind !== 'session_busy') return writer
      if (signal.aborted || waitsForLock?.() !== true) return writer
      await wait(this.#parts.log.place.clock, LOOK_AGAIN_MS, signal)
    }
  }

  /**
   * Takes the lock and opens a Turn, or continues the Turn of the message; the lock is released at its end. If the message
   * had a Turn before that has ended, that one is returned.
   */
  async #begin(
    input: TurnInput,
    options: AdmitOptions,
    place: TurnPlace,
  ): Promise<Result<AdmittedTurn>> {
    const { messageKey, continues } = options
    let left: CrashedTurn | undefined
    const writer = await this.#acquireInTime(options, place.signal, (crashed) => {
      if (messageKey === undefined || messageKeyOf(crashed) !== messageKey) return false
      if (!mayContinue(crashed) || continues?.() !== true) return false
      left = crashed
      return true
    })
    if (!writer.ok) return writer
    const release = () => this.#log.release(writer.value)
    const releasing = async ({ done }: AdmittedTurn) => {
      try {
        return await done
      } finally {
        await release()
      }
    }
    const begun = await leavingUnless<AdmittedTurn>(release, async () => {
      if (left !== undefined) return this.#turns.continueTurn(writer.value, left, place)
      const earlier =
        messageKey === undefined ? ok(undefined) : await this.#keyedTurns.earlier(messageKey)
      if (!earlier.ok) return earlier
      if (earlier.value !== undefined) return this.#keyedTurns.asAdmitted(earlier.value)
      const compacted = await this.#turns.compactByPolicy(writer.value, place.signal)
      if (!compacted.ok) return compacted
      return this.#turns.open(writer.value, input, options, place)
    })
    if (!begun.ok) return begun
    if (begun.value.repeated !== true) return ok({ ...begun.value, done: releasing(begun.value) })
    await release()
    return begun
  }
}

/** Calls `leave` if `work` fails or throws; on success, the caller keeps what it acquired. */
async function leavingUnless<T>(
  leave: () => void | Promise<void>,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  let kept = false
  try {
    const result = await work()
    kept = result.ok
    return result
  } finally {
    if (!kept) await leave()
  }
}
