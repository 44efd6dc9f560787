import { ok, failed, type Failed, type Result } from '../model/errors.ts'
import type { EventDraft, WholeEvent } from '../model/event.ts'
import type { SessionId, TurnId } from '../model/ids.ts'
import { LIMITS } from '../model/limits.ts'
import type { LogWriter } from '../log/append.ts'
import type { Cursor, LogLine } from '../log/line.ts'
import { acquireLog } from '../log/open.ts'
import { openReader } from '../log/reader.ts'
import { LOG_START } from '../log/scan.ts'
import type { PermissionMode } from '../policy/decide.ts'
import { narrower } from '../policy/decide.ts'
import type { ComposedRequest } from '../turn/compose-request.ts'
import { LiveHistory } from '../turn/live-history.ts'
import { crashedTurn } from '../turn/recover.ts'
import { runTurn, type TurnOutcome } from '../turn/run.ts'
import { Admissions, type WhenBusy } from './admissions.ts'
import type { SessionParts } from './session-parts.ts'
import { sessionFold, type SessionState } from './state.ts'
import { Watchers, type Subscription } from './subscribe.ts'
import { turnParts, type TurnWorld } from './turn-world.ts'

export interface AdmitOptions {
  readonly whenBusy?: WhenBusy
  readonly channel?: string
}

/** A Turn whose request is durable: it is acknowledged, and it will have an end. */
export interface AdmittedTurn {
  readonly turn: TurnId
  readonly done: Promise<Result<TurnOutcome>>
}

/**
 * One Session as presenters know it. The Log is locked from a Turn's admission to its end and not in between: another
 * process may write it meanwhile, and what it wrote is read before the next Turn.
 */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #history: LiveHistory
  readonly #watchers = new Watchers()
  readonly #admissions: Admissions
  readonly #granted = new Set<string>()
  #cursor: Cursor = LOG_START
  #state: SessionState = sessionFold.initial
  #mode: PermissionMode | undefined
  #lastRequest: ComposedRequest | undefined
  #steering: string[] = []

  constructor(parts: SessionParts, id: SessionId) {
    this.id = id
    this.#parts = parts
    this.#history = new LiveHistory(parts.store)
    this.#admissions = new Admissions(parts.limits.waiting_turns)
  }

  get state(): SessionState {
    return this.#state
  }

  get events(): readonly WholeEvent[] {
    return this.#history.events
  }

  /** The mode calls are decided under: what the Session was left with, unless it was widened in words here. */
  get permissionMode(): PermissionMode {
    const chosen = this.#mode ?? this.#state.permission_mode
    return this.#state.mode === 'plan' ? narrower(chosen, 'read-only') : chosen
  }

  /** Reads what the Log holds beyond what is known here. */
  async catchUp(): Promise<Result<void>> {
    const reader = await openReader(this.#parts.place, this.id)
    if (!reader.ok) return reader
    try {
      const lines: LogLine[] = []
      const end = await reader.value.forward((line) => void lines.push(line), this.#cursor)
      if (!end.ok) return end
      await this.#take(lines)
      return end.value.damage === undefined ? ok(undefined) : { ok: false, error: end.value.damage }
    } finally {
      await reader.value.close()
    }
  }

  /** Answers when the request is durable, or why it was not taken. */
  async admit(text: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    const refused = unfit(text)
    if (refused !== undefined) return refused
    const place = await this.#admissions.enter(options.whenBusy ?? 'refuse', () => this.interrupt())
    if (!place.ok) return place
    const begun = await this.#begin(text, options, place.value.signal).catch((defect: unknown) => {
      place.value.leave()
      throw defect
    })
    if (!begun.ok) {
      place.value.leave()
      return begun
    }
    const { turn, run } = begun.value
    return ok({ turn, done: run().finally(() => place.value.leave()) })
  }

  /** Ends the running Turn at its next step; its calls get results that say so. */
  interrupt(): void {
    this.#admissions.interrupt()
  }

  /** Text for the running Turn; it enters where the model listens next. False when no Turn runs. */
  steer(text: string): boolean {
    if (!this.#admissions.busy || text.trim() === '') return false
    this.#steering.push(text)
    return true
  }

  /** Widening is a word of a person, here and now; it is recorded with the next Turn's context. */
  setPermissionMode(mode: PermissionMode): void {
    this.#mode = mode
  }

  subscribe(): Subscription {
    return this.#watchers.subscribe(this.#cursor.seq - 1)
  }

  async close(): Promise<void> {
    this.interrupt()
    await this.#admissions.idle()
    this.#watchers.close()
  }

  async #begin(
    text: string,
    options: AdmitOptions,
    signal: AbortSignal,
  ): Promise<Result<{ turn: TurnId; run: () => Promise<Result<TurnOutcome>> }>> {
    const writer = await this.#acquire()
    if (!writer.ok) return writer
    const turn = this.#parts.place.ids.turn()
    const channel = options.channel === undefined ? {} : { channel: options.channel }
    const world = this.#world(writer.value, turn, signal)
    const admitted = await this.#commit(writer.value, turn, [
      { type: 'turn_started', data: { source: { presenter: this.#parts.presenter, ...channel } } },
      { type: 'user_message', data: { text, prompt_mode: 'string' } },
    ])
    if (!admitted.ok) {
      await writer.value.release()
      return admitted
    }
    return ok({ turn, run: () => this.#run(writer.value, world) })
  }

  async #run(writer: LogWriter<SessionState>, world: TurnWorld): Promise<Result<TurnOutcome>> {
    try {
      const parts = await turnParts(this.#parts, world)
      if (!parts.ok) return await this.#endUnrun(world, parts)
      const outcome = await runTurn(parts.value)
      if (outcome.ok) this.#lastRequest = outcome.value.lastRequest
      return outcome
    } finally {
      this.#steering = []
      await writer.release()
    }
  }

  /** A Turn that could not even start still ends in the Log. */
  async #endUnrun(world: TurnWorld, { error }: Failed): Promise<Result<TurnOutcome>> {
    const usage_total = {
      input: 0,
      cached_read: 0,
      cache_write: 0,
      output: 0,
      reasoning: 0,
      calls: 0,
    }
    const ended = { status: 'failed', error, usage_total } as const
    const recorded = await world.commit([{ type: 'turn_ended', data: ended }])
    return recorded.ok ? ok({ ended, lastRequest: undefined }) : recorded
  }

  /** The lock, what others wrote meanwhile, and an end for a Turn that a crash left open. */
  async #acquire(): Promise<Result<LogWriter<SessionState>>> {
    const { place, store } = this.#parts
    const keep = (bytes: Buffer, type: Parameters<typeof store.put>[1]) => store.put([bytes], type)
    const writer = await acquireLog(place, this.id, { fold: sessionFold, keep })
    if (!writer.ok) return writer
    const known = await this.catchUp()
    const crashed = known.ok ? crashedTurn(this.events) : undefined
    const ended = crashed && (await this.#commit(writer.value, crashed.turn, crashed.drafts))
    const failure = [known, ended].find((result) => result?.ok === false)
    if (failure === undefined || failure.ok) return writer
    await writer.value.release()
    return failure
  }

  #world(writer: LogWriter<SessionState>, turn: TurnId, signal: AbortSignal): TurnWorld {
    return {
      session: this.id,
      turn,
      signal,
      events: () => this.events,
      state: () => writer.state,
      mode: () => this.permissionMode,
      granted: this.#granted,
      lastRequest: this.#lastRequest,
      commit: (drafts) => this.#commit(writer, turn, drafts),
      publish: (notice) => this.#watchers.notice({ ...notice, session_id: this.id, turn_id: turn }),
      takeSteering: () => this.#steering.splice(0),
    }
  }

  #adding: Promise<void> = Promise.resolve()

  /** Durable first, then known here, then told. In the order of the Log, whoever commits at the same time. */
  async #commit(
    writer: LogWriter<SessionState>,
    turn: TurnId,
    drafts: readonly EventDraft[],
  ): Promise<Result<void>> {
    const stamped = drafts.map((draft): EventDraft => ({ ...draft, turn_id: turn }))
    const lines = await writer.append(stamped)
    if (!lines.ok) return lines
    this.#adding = this.#adding.then(() => this.#take(lines.value))
    await this.#adding
    return ok(undefined)
  }

  async #take(lines: readonly LogLine[]): Promise<void> {
    const fresh = lines.filter(({ seq }) => seq >= this.#cursor.seq)
    await this.#history.add(fresh)
    for (const line of fresh) {
      this.#state = sessionFold.step(this.#state, line)
      this.#cursor = line.next
      this.#watchers.line(line)
    }
  }
}

function unfit(text: string): Failed | undefined {
  if (text.trim() === '') {
    return failed('invalid_args', 'There is nothing to ask: the message is blank.')
  }
  const bytes = Buffer.byteLength(text)
  if (bytes <= LIMITS.user_text_bytes) return undefined
  const limit = LIMITS.user_text_bytes
  return failed('too_large', `The message has ${bytes} bytes; at most ${limit} are taken.`, {
    limit,
    actual: bytes,
  })
}
