import type { SessionResource } from '../../history/session-resources.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SkillRequest } from '../../model/context-source.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import type { LogWriter } from '../../log/append.ts'
import type { PermissionMode, SessionMode } from '../../model/modes.ts'
import { narrower } from '../../policy/permission-mode.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import type { AttachmentInput } from '../../model/attachment.ts'
import type { ResolvedAttachment } from '../../resources/resolve-attachments.ts'
import { endTurn } from '../../turn/end.ts'
import { openTurn, type TurnPreparation } from '../../turn/open.ts'
import { ResourceNames } from '../../turn/resource-names.ts'
import { runTurn, type TurnOutcome } from '../../turn/run.ts'
import { Steering } from '../../turn/steering.ts'
import type { TurnParts } from '../../turn/turn-parts.ts'
import { resourceNamed } from '../reading/resource-named.ts'
import { Admissions, type WhenBusy } from './admissions.ts'
import { renewInputs, resolveInputs } from './attachments.ts'
import { surfaceEvent, surfaceToRecord } from './create.ts'
import { FreshBlobs } from './fresh-blobs.ts'
import { keyCheck } from './key-check.ts'
import { remembered } from './last-request.ts'
import { lateContext } from './late-context.ts'
import { leavingAfter, leavingUnless } from './leaving.ts'
import { tooMuchPiped, unfit } from './message-limits.ts'
import { SessionLog } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionRules } from './session-rules.ts'
import type { SessionState } from './state.ts'
import type { SessionUpdate } from './session-stream.ts'
import type { Subscription } from './subscribe.ts'
import { turnParts } from './turn-parts.ts'

export interface AdmitOptions {
  readonly whenBusy?: WhenBusy
  readonly channel?: string
  /** Files that belong to the text, in this order. They are read immediately, even if the Turn has to wait. */
  readonly attachments?: readonly AttachmentInput[]
  /** Text from standard input. */
  readonly piped?: string | undefined
  /** Handles in the person's message. Each one adds a view of that Resource. */
  readonly views?: readonly string[]
  /** Skills to activate in this order, and what to hydrate for them. */
  readonly skills?: readonly SkillRequest[]
  /** Facts that the presenter adds. Never authoritative. */
  readonly presenterContext?: Readonly<Record<string, string>> | undefined
}

/** A Turn whose request is durable: it is acknowledged, and it will end. */
export interface AdmittedTurn {
  readonly turn: TurnId
  readonly done: Promise<Result<TurnOutcome>>
}

type Writer = LogWriter<SessionState>

export interface ModelChoice {
  readonly provider: string
  readonly model: string
}

/**
 * Modes to set; an absent one does not change. Mode `plan` limits calls to read-only, whatever the permission mode is.
 */
export interface ModeChange {
  readonly mode?: SessionMode
  readonly permission_mode?: PermissionMode
}

export interface StreamOptions {
  /** -1 for all. */
  readonly after_seq: number
  readonly signal?: AbortSignal
}

/** Appends Events that belong to no Turn. */
export type RecordEvents = (drafts: readonly EventDraft[]) => Promise<Result<void>>

/** Runs a Turn with this message and purpose under the lock that is already held, and returns its id when it has ended. */
export type AskModel = (text: string, purpose: 'summary') => Promise<Result<TurnId>>

/**
 * One Session as presenters see it. The Log is locked from the admission of a Turn to its end. Between Turns another
 * process may write to it; those Events are read before the next Turn.
 */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #log: SessionLog
  readonly #admissions: Admissions
  readonly #redactor: Redactor
  readonly #holdsKey: TurnParts['model']['holdsKey']
  /** The person's permission rules. Rules of this Session end with the process. */
  readonly rules: SessionRules
  #running: RecordEvents | undefined
  #lastRequests: readonly SentRequest[] = []
  /** The steering of the running Turn. */
  #steering: Steering | undefined

  /** `held` is the writer from the creation of the Session, kept for the first Turn. */
  constructor(parts: SessionParts, id: SessionId, held?: Writer) {
    this.id = id
    this.#parts = parts
    const { log, person } = parts
    this.rules = new SessionRules(person.rules)
    this.#log = new SessionLog(log, id, held)
    this.#redactor = new Redactor(log.secrets)
    this.#holdsKey = keyCheck(log.secrets)
    this.#admissions = new Admissions(person.limits.waiting_turns)
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
    const { attachments = [], views = [], piped: given } = options
    // Redact before the length check: the redacted text is what is recorded.
    const text = this.#redactor.text(typed)
    const piped = given === undefined ? undefined : this.#redactor.text(given)
    const refused = unfit(text, attachments.length + views.length > 0) ?? tooMuchPiped(piped)
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
      const { turn, run } = started.value
      return ok({ turn, done: run().finally(leave) })
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

  /** See `setPosture`. */
  setPermissionMode(permission_mode: PermissionMode): Promise<Result<void>> {
    return this.setPosture({ permission_mode })
  }

  /**
   * Sets the mode at the request of a person, which is the only way to widen it. It is recorded and in force when this
   * resolves: it applies to the next call of a running Turn, and the model is informed in its next Turn.
   */
  async setPosture(posture: ModeChange): Promise<Result<void>> {
    const { mode, permission_mode } = this.state
    const { mode: nextMode = mode, permission_mode: nextPermission = permission_mode } = posture
    const data = {
      ...(nextMode === mode ? {} : { mode: nextMode }),
      ...(nextPermission === permission_mode ? {} : { permission_mode: nextPermission }),
    }
    if (Object.keys(data).length === 0) return ok(undefined)
    const drafts: EventDraft[] = [{ type: 'session_settings', data }]
    return this.#running === undefined
      ? this.between((record) => record(drafts))
      : this.#running(drafts)
  }

  /**
   * Changes the model from the next Turn on. The Conversation stays unchanged, except that reasoning is sent only to
   * the model that wrote it. Recorded together with the new surface.
   */
  async setModel({ provider, model }: ModelChoice): Promise<Result<void>> {
    const { state } = this
    if (state.provider === provider && state.model === model) return ok(undefined)
    const known = await this.#parts.model.providerOf(provider)
    if (!known.ok) return known
    return this.between(async (record) => {
      const surface = await surfaceEvent(this.#parts, { provider, model }, 'reload')
      if (!surface.ok) return surface
      return record([{ type: 'session_settings', data: { provider, model } }, surface.value])
    })
  }

  /**
   * Every Event after number `after_seq`, then everything that happens, until `signal` aborts or the Session is closed.
   * Uses little memory, however slowly it is read.
   */
  stream({ after_seq, signal }: StreamOptions): AsyncGenerator<SessionUpdate, void> {
    return this.#log.stream(after_seq, signal)
  }

  subscribe(): Subscription {
    return this.#log.subscribe()
  }

  async close(): Promise<void> {
    this.interrupt()
    await this.#admissions.idle()
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

  /** Takes the lock and records the opening Events of a Turn. Releases the lock on failure. */
  async #begin(request: TurnRequest): Promise<Result<StartedTurn>> {
    const writer = await this.#log.acquire()
    if (!writer.ok) return writer
    const release = () => this.#log.release(writer.value)
    return leavingUnless(release, async () => {
      const started = await this.#open(writer.value, request)
      if (!started.ok) return started
      const { turn, run } = started.value
      return ok({ turn, run: () => leavingAfter(release, run) })
    })
  }

  async #open(
    writer: Writer,
    { text, resolved, views, options, signal, fresh, purpose }: TurnRequest,
  ): Promise<Result<StartedTurn>> {
    const { channel, piped } = options
    const { presenter } = this.#parts.person
    const log = this.#turnLog(writer, fresh.over(this.#parts.log.store))
    const stored = await renewInputs(this.#parts.log.store, resolved)
    if (!stored.ok) return stored
    const surfaced = await this.#surface(writer)
    if (!surfaced.ok) return surfaced
    const late = purpose === undefined ? await lateContext(this.#parts, this) : undefined
    const source = { presenter, ...(channel === undefined ? {} : { channel }) }
    const opened = await openTurn(log, {
      source,
      text,
      resolved,
      views,
      skills: [],
      late,
      piped,
      purpose,
    })
    if (!opened.ok) return opened
    // A mode belongs to the Session: even if it is set during a Turn, its Event belongs to no Turn.
    this.#running = (drafts) => this.#log.commit(writer, undefined, drafts)
    const steering = new Steering()
    // Text that is typed now would be hidden together with such a Turn.
    if (purpose === undefined) this.#steering = steering
    const preparation = opened.value
    return ok({
      turn: log.turn,
      run: () => this.#run({ log, steering, signal, preparation }),
    })
  }

  async #surface(writer: Writer): Promise<Result<void>> {
    const event = await surfaceToRecord(this.#parts, this.events, this.state)
    if (!event.ok) return event
    return event.value === undefined
      ? ok(undefined)
      : this.#log.commit(writer, undefined, [event.value])
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
      const parts = await turnParts(this.#parts, this, own)
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
    }
  }

  /** The part of the Log that a new Turn uses. */
  #turnLog(writer: Writer, store: TurnParts['log']['store']): TurnParts['log'] {
    const { ids, clock } = this.#parts.log.place
    const turn = ids.turn()
    const events = () => this.events
    return {
      session: this.id,
      turn,
      events,
      commit: (drafts) => this.#log.commit(writer, turn, drafts),
      recordedText: (text) => this.#log.recordedText(text),
      publish: (notice) => this.#log.notice({ ...notice, session_id: this.id, turn_id: turn }),
      store,
      names: new ResourceNames(ids, events),
      resourceNamed: (handle) => this.resourceNamed(handle),
      clock,
    }
  }
}

interface StartedTurn {
  readonly turn: TurnId
  readonly run: () => Promise<Result<TurnOutcome>>
}

/** A Turn whose opening Events are durable. */
interface OpenedTurn
  extends Pick<TurnParts, 'log'>, Pick<TurnParts['person'], 'steering' | 'signal'> {
  readonly preparation: TurnPreparation
}

/** The input of a Turn, with its resolved attachments. */
interface TurnRequest extends Required<Pick<AdmitOptions, 'views'>> {
  readonly text: string
  readonly resolved: readonly ResolvedAttachment[]
  readonly options: AdmitOptions
  readonly signal: AbortSignal
  readonly fresh: FreshBlobs
  readonly purpose?: TurnPreparation['purpose']
}
