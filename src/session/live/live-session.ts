import type { SessionResource } from '../../history/session-resources.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import type { PermissionMode } from '../../model/modes.ts'
import type { Rule } from '../../model/rule.ts'
import { narrower } from '../../policy/permission-mode.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import { endTurn } from '../../turn/end.ts'
import { openTurn } from '../../turn/open.ts'
import { runTurn, type TurnOutcome } from '../../turn/run.ts'
import { judgeSkills } from '../../turn/skills/activations.ts'
import { Steering } from '../../turn/parts/steering.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import { resourceNamed } from '../reading/resource-named.ts'
import { newSurfaceNotice } from '../surface/announce.ts'
import { Admissions } from '../admission/admissions.ts'
import { turnSource, type AdmitOptions, type AdmittedTurn } from '../admission/admit-options.ts'
import { refusedOf, renewInputs, resolveInputs } from '../admission/attachments.ts'
import { surfaceToRecord } from './create.ts'
import { FreshBlobs } from '../admission/fresh-blobs.ts'
import { keyCheck } from './key-check.ts'
import { asAdmitted, KeyedTurns } from './keyed-turns.ts'
import { remembered } from './last-request.ts'
import { lateContext } from './late-context.ts'
import { leavingAfter, leavingUnless } from './leaving.ts'
import { tooMuch, unfit } from '../admission/message-limits.ts'
import { SessionLog, type Writer } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionRules } from './session-rules.ts'
import { SessionQuestions } from '../questions/session-questions.ts'
import type { SessionUpdate, StreamOptions } from '../watch/session-stream.ts'
import { isSimple, settingsDrafts, simpleDrafts } from './session-settings.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import type { SessionState } from './state.ts'
import type { Subscription } from '../watch/subscribe.ts'
import { turnLog } from './turn-log.ts'
import { turnParts } from './turn-parts.ts'
import type { AskModel, BegunTurn, OpenedTurn, RecordEvents, TurnRequest } from './turn-request.ts'

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
  readonly #holdsKey: TurnParts['model']['holdsKey']
  /** The person's permission rules. Rules of this Session end with the process. */
  readonly rules: SessionRules
  readonly questions: SessionQuestions
  readonly #isNew: boolean
  readonly #keyed: KeyedTurns
  #running: RecordEvents | undefined
  #lastRequests: readonly SentRequest[] = []
  /** The steering of the running Turn. */
  #steering: Steering | undefined

  /**
   * `granted` are the person's rules for this Session in this process. `held` is the writer from the creation of the
   * Session, kept for the first Turn.
   */
  constructor(parts: SessionParts, id: SessionId, granted: Rule[], held?: Writer) {
    this.id = id
    this.#parts = parts
    this.#isNew = held !== undefined
    const { log, person } = parts
    this.rules = new SessionRules(person.rules, granted)
    this.#log = new SessionLog(log, id, held)
    this.#redactor = new Redactor(log.secrets)
    this.#holdsKey = keyCheck(log.secrets)
    this.#admissions = new Admissions(person.limits.waiting_turns)
    this.#keyed = new KeyedTurns(log, this, (text) => this.#log.recordedText(text))
    const { clock, ids } = log.place
    this.questions = new SessionQuestions({
      clock,
      ids,
      waitMs: person.limits.question_ms,
      publish: (notice) => this.#log.notice(notice),
      session: id,
      redacted: (text) => this.#redactor.text(text),
    })
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
    return this.busy || this.#keyed.any
  }

  /** The number of the next Event. */
  get nextSeq(): number {
    return this.#log.nextSeq
  }

  /** The permission mode that applies to calls: the recorded one, limited to read-only in plan mode. */
  get permissionMode(): PermissionMode {
    const { mode, permission_mode } = this.state
    return mode === 'plan' ? narrower(permission_mode, 'read-only') : permission_mode
  }

  /** Reads the Events after those already known. */
  catchUp(): Promise<Result<void>> {
    return this.#log.catchUp()
  }

  /** The Resource with that handle, also from before a checkpoint. */
  resourceNamed(handle: string): Promise<Result<SessionResource | undefined>> {
    return resourceNamed(this.#parts.log, this.id, this.events, handle)
  }

  /** The position of an Event in the Log, if it starts a Turn or is the next one. */
  placeOf(seq: number): ReturnType<SessionLog['placeOf']> {
    return this.#log.placeOf(seq)
  }

  /** Resolves when the request is durable, or with the reason why it was refused. */
  async admit(typed: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    const { messageKey: key } = options
    if (key === undefined) return this.#admit(typed, options)
    return this.#keyed.once(key, () => this.#admit(typed, options))
  }

  async #admit(typed: string, options: AdmitOptions): Promise<Result<AdmittedTurn>> {
    const { attachments = [], views = [], piped: given } = options
    // Redact before the length check: the redacted text is what is recorded.
    const text = this.#redactor.text(typed)
    const piped = given === undefined ? undefined : this.#redactor.text(given)
    const hasMore = attachments.length + views.length > 0
    const refused = unfit(text, hasMore) ?? tooMuch(piped, options)
    if (refused !== undefined) return refused
    // Start reading now, but do not wait for it: Turns are admitted in the order of arrival, however long reading takes.
    const stop = new AbortController()
    const { store, place: logs } = this.#parts.log
    const fresh = new FreshBlobs()
    const reading = resolveInputs({ store, clock: logs.clock }, attachments, {
      signal: stop.signal,
      redactor: this.#redactor,
      // A queued Turn may wait long, so its bytes are not held in memory but read again.
      ...(this.busy ? {} : { hold: (key, bytes) => fresh.hold(key, bytes) }),
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
      const request = { text, resolved: resolved.value, views, options, signal, fresh }
      const started = await this.#begin(request)
      if (!started.ok) return started
      if ('done' in started.value) {
        leave()
        return ok(started.value)
      }
      const { turn, run } = started.value
      return ok({ turn, done: run().finally(leave), refused: refusedOf(resolved.value) })
    })
  }

  /** Runs `work` under the lock, between Turns. Fails with `turn_in_progress` while a Turn runs. */
  async between<T>(
    work: (record: RecordEvents, ask: AskModel) => Promise<Result<T>>,
  ): Promise<Result<T>> {
    const place = await this.#admissions.enter('refuse', () => {})
    if (!place.ok) return place
    try {
      const writer = await this.#log.acquire()
      if (!writer.ok) return writer
      try {
        return await work(
          (drafts) => this.#log.commit(writer.value, undefined, drafts),
          (text, purpose) => this.#ask(writer.value, { text, purpose, signal: place.value.signal }),
        )
      } finally {
        await this.#log.release(writer.value)
      }
    } finally {
      place.value.leave()
    }
  }

  /** Ends the running Turn at its next step. Its unfinished calls get results that report the interruption. */
  interrupt(): void {
    this.#admissions.interrupt()
  }

  /**
   * Adds text to the running Turn, before its next request to the model; it is always recorded. Returns false if no
   * Turn accepts text any more; nothing is recorded then.
   */
  steer(typed: string): boolean {
    const text = this.#redactor.text(typed)
    if (this.#steering === undefined || unfit(text, false) !== undefined) return false
    return this.#steering.add(text)
  }

  /**
   * Changes settings at the request of a person, which is the only way to widen a mode. They are recorded and in force when
   * this resolves. A mode applies to the next call of a running Turn, and the model is informed in its next Turn. A model or
   * effort applies from the next Turn on; while one runs, that is `turn_in_progress`, and so is any change while a message is
   * being admitted or a compaction runs.
   */
  async change(change: SettingsChange): Promise<Result<void>> {
    if (Object.values(change).every((one) => one === undefined)) return ok(undefined)
    if (this.#running === undefined || !isSimple(change))
      return this.between((record) => this.#recordSettings(change, record))
    // At once: the Turn may end at any moment, and release the lock.
    const drafts = simpleDrafts(this.state, change)
    if (!drafts.ok) return drafts
    return drafts.value.length === 0 ? ok(undefined) : this.#running(drafts.value)
  }

  async #recordSettings(change: SettingsChange, record: RecordEvents): Promise<Result<void>> {
    const drafts = await settingsDrafts(this.#parts, this.state, change)
    if (!drafts.ok) return drafts
    return drafts.value.length === 0 ? ok(undefined) : record(drafts.value)
  }

  /**
   * Every Event after number `after_seq`, then everything that happens, until `signal` aborts or the Session is closed.
   * Uses little memory, however slowly it is read.
   */
  stream({ after_seq, signal }: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    return this.#log.stream(after_seq, () => this.questions.notices, signal)
  }

  /** `ended` is called when the subscription has ended. */
  subscribe(ended?: () => void): Subscription {
    return this.#log.subscribe(ended)
  }

  /** Interrupts the running Turn and refuses those that wait; with `forever`, also those that come later. */
  end({ forever = false } = {}): void {
    if (forever) this.#admissions.close()
    this.#keyed.refuseLookups()
    this.#admissions.refuseWaiting()
    this.interrupt()
  }

  /** Resolves when no Turn is running or waiting, and none can start any more if all clients have left. */
  async idle(): Promise<void> {
    await this.#keyed.settled()
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

  async #ask(
    writer: Writer,
    request: Pick<TurnRequest, 'text' | 'purpose' | 'signal'>,
  ): Promise<Result<TurnId>> {
    const nothing = { resolved: [], views: [], options: {}, fresh: new FreshBlobs() }
    const started = await this.#open(writer, { ...nothing, ...request })
    if (!started.ok) return started
    const { turn, run } = started.value
    const outcome = await run()
    return outcome.ok ? ok(turn) : outcome
  }

  /**
   * Takes the lock and records the opening Events of a Turn. Releases the lock on failure, and if the message had a Turn
   * before, which is returned then.
   */
  async #begin(request: TurnRequest): Promise<Result<BegunTurn | AdmittedTurn>> {
    const writer = await this.#log.acquire()
    if (!writer.ok) return writer
    const release = () => this.#log.release(writer.value)
    return leavingUnless<BegunTurn | AdmittedTurn>(release, async () => {
      const { messageKey: key } = request.options
      const earlier = key === undefined ? ok(undefined) : await this.#keyed.earlier(key)
      if (!earlier.ok) return earlier
      if (earlier.value !== undefined) {
        const admitted = asAdmitted(earlier.value)
        if (admitted.ok) await release()
        return admitted
      }
      const started = await this.#open(writer.value, request)
      if (!started.ok) return started
      const { turn, run } = started.value
      return ok({ turn, run: () => leavingAfter(release, run) })
    })
  }

  async #open(
    writer: Writer,
    { text, resolved, views, options, signal, fresh, purpose }: TurnRequest,
  ): Promise<Result<BegunTurn>> {
    const { piped, presenterContext, skillsBy = 'person' } = options
    const skills = await judgeSkills(this.#parts.tools.skills, options.skills ?? [], skillsBy)
    if (!skills.ok) return skills
    const store = fresh.over(this.#parts.log.store)
    const log = turnLog(this, { log: this.#log, writer, store, place: this.#parts.log.place })
    const stored = await renewInputs(this.#parts.log.store, resolved)
    if (!stored.ok) return stored
    const record: RecordEvents = (drafts) => this.#log.commit(writer, undefined, drafts)
    const set = await this.#recordSettings(options.settings ?? {}, record)
    if (!set.ok) return set
    const surfaced = await surfaceToRecord(this.#parts, this.events, this.state)
    if (!surfaced.ok) return surfaced
    const isSurfaced = surfaced.value === undefined ? ok(undefined) : await record([surfaced.value])
    if (!isSurfaced.ok) return isSurfaced
    const late = purpose === undefined ? await lateContext(this.#parts, this) : undefined
    const source = turnSource(options, this.#parts.person.presenter)
    const opened = await openTurn(log, {
      source,
      text,
      resolved,
      views,
      skills: skills.value,
      late,
      piped,
      presenterContext,
      purpose,
    })
    if (!opened.ok) return opened
    // A mode belongs to the Session: even if it is set during a Turn, its Event belongs to no Turn.
    this.#running = record
    const steering = new Steering()
    // Text that is typed now would be hidden together with such a Turn.
    if (purpose === undefined) this.#steering = steering
    const preparation = opened.value
    return ok({
      turn: log.turn,
      run: () => this.#run({ log, steering, signal, preparation }),
    })
  }

  async #run({ log, steering, signal, preparation }: OpenedTurn): Promise<Result<TurnOutcome>> {
    try {
      const own = {
        log,
        steering,
        signal,
        holdsKey: this.#holdsKey,
        lastRequests: this.#lastRequests,
      }
      const [parts, news] = await Promise.all([
        turnParts(this.#parts, this, own),
        preparation.purpose === undefined ? this.#surfaceNews() : undefined,
      ])
      const announced = news === undefined ? ok(undefined) : await log.commit([news])
      if (!announced.ok) return announced
      if (!parts.ok) {
        const { error } = parts
        const ended = await endTurn(log, { how: 'loop', error }, steering.end())
        return ended.ok ? ok({ ended: ended.value, lastRequest: undefined }) : ended
      }
      const outcome = await runTurn(parts.value, preparation)
      if (!outcome.ok) return outcome
      this.#lastRequests = remembered(this.#lastRequests, outcome.value.lastRequest)
      return ok({ ...outcome.value, ended: this.#redactor.value(outcome.value.ended) })
    } finally {
      this.#running = undefined
      this.#steering = undefined
      this.questions.turnEnded(log.turn)
    }
  }

  /** About Skills and tools that changed since they were frozen. Nothing did if this process froze them just now. */
  async #surfaceNews(): Promise<EventDraft | undefined> {
    if (this.#isNew && this.state.turns === 1) return undefined
    return newSurfaceNotice(this.#parts, this.state, this.events)
  }
}
