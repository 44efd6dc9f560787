import { Redactor } from '../../encoding/redaction.ts'
import { ok, failed, type Failed, type Result } from '../../model/errors.ts'
import type { EventDraft, WholeEvent } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { LIMITS } from '../../model/limits.ts'
import type { LogWriter } from '../../log/append.ts'
import type { PermissionMode } from '../../policy/decide.ts'
import { narrower } from '../../policy/decide.ts'
import type { SentRequest } from '../../request/compose-request.ts'
import type { AttachmentInput } from '../../model/attachment.ts'
import type { Resolved } from '../../resources/resolve-attachments.ts'
import { runTurn, type TurnOutcome } from '../../turn/run.ts'
import { NO_USAGE } from '../../turn/usage.ts'
import { Admissions, type WhenBusy } from './admissions.ts'
import { resolveInputs } from './attachments.ts'
import { surfaceEvent } from './create.ts'
import { FreshBlobs } from './fresh-blobs.ts'
import { keyCheck } from './key-check.ts'
import { lastRequestOf } from './last-request.ts'
import { lateContext } from './late-context.ts'
import { openingOf } from './opening.ts'
import { ResourceNames } from './resource-names.ts'
import { SessionLog } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import { SessionRules } from './session-rules.ts'
import type { SessionState } from './state.ts'
import type { Subscription } from './subscribe.ts'
import { turnParts, type TurnWorld } from './turn-world.ts'

export interface AdmitOptions {
  readonly whenBusy?: WhenBusy
  readonly channel?: string
  /** What comes with the text, in this order. Read now, whenever the Turn begins. */
  readonly attachments?: readonly AttachmentInput[]
  /** What standard input held beside the text. */
  readonly piped?: string | undefined
  /** Handles that the person wrote: each is a view of that Resource. */
  readonly views?: readonly string[]
}

/** A Turn whose request is durable: it is acknowledged, and it will have an end. */
export interface AdmittedTurn {
  readonly turn: TurnId
  readonly done: Promise<Result<TurnOutcome>>
}

type Writer = LogWriter<SessionState>

export interface ModelChoice {
  readonly provider: string
  readonly model: string
}

/** What a Session may do. `plan` makes read-only the most, whatever the permission mode is. */
export interface Posture {
  readonly mode?: 'build' | 'plan'
  readonly permission_mode?: PermissionMode
}

/** Appends Events that belong to no Turn. */
export type Recording = (drafts: readonly EventDraft[]) => Promise<Result<void>>

/**
 * One Session as presenters know it. The Log is locked from a Turn's admission to its end and not in between: another
 * process may write it meanwhile, and what it wrote is read before the next Turn.
 */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #log: SessionLog
  readonly #admissions: Admissions
  readonly #redactor: Redactor
  readonly #holdsKey: TurnWorld['holdsKey']
  /** What a person allowed and denied in advance. Rules of this Session end with the process. */
  readonly rules: SessionRules
  #running: Recording | undefined
  #lastRequest: SentRequest | undefined
  /** Absent when no Turn listens any more. */
  #steering: string[] | undefined

  /** `held` is the right to write, kept for the first Turn. */
  constructor(parts: SessionParts, id: SessionId, held?: Writer) {
    this.id = id
    this.#parts = parts
    this.rules = new SessionRules(parts.rules)
    this.#log = new SessionLog(parts, id, held)
    this.#redactor = new Redactor(parts.secrets)
    this.#holdsKey = keyCheck(parts.secrets)
    this.#admissions = new Admissions(parts.limits.waiting_turns)
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

  /** The mode calls are decided under: what the Log says, and never more than a plan allows. */
  get permissionMode(): PermissionMode {
    const { mode, permission_mode } = this.state
    return mode === 'plan' ? narrower(permission_mode, 'read-only') : permission_mode
  }

  /** Reads what the Log holds beyond what is known here. */
  catchUp(): Promise<Result<void>> {
    return this.#log.catchUp()
  }

  /** Answers when the request is durable, or why it was not taken. */
  async admit(typed: string, options: AdmitOptions = {}): Promise<Result<AdmittedTurn>> {
    const { attachments = [], views = [], piped: given } = options
    // Before its length is judged: that is what is recorded.
    const text = this.#redactor.text(typed)
    const piped = given === undefined ? undefined : this.#redactor.text(given)
    const refused = unfit(text, attachments.length + views.length > 0) ?? tooMuchPiped(piped)
    if (refused !== undefined) return refused
    // Read from now on, and whoever came first is first, however long that takes.
    const stop = new AbortController()
    const { store, place: logs } = this.#parts
    const fresh = new FreshBlobs()
    const reading = resolveInputs({ store, clock: logs.clock }, attachments, {
      signal: stop.signal,
      redactor: this.#redactor,
      // A Turn that waits may wait long, and then its bytes are read again.
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
      const asked = { text, resolved: resolved.value, views, options, signal, fresh }
      const begun = await this.#begin(asked)
      if (!begun.ok) return begun
      const { turn, run } = begun.value
      return ok({ turn, done: run().finally(leave) })
    })
  }

  /** Runs `work` under the lock, between Turns. `turn_in_progress` while one runs. */
  async between<T>(work: (record: Recording) => Promise<Result<T>>): Promise<Result<T>> {
    const place = await this.#admissions.enter('refuse', () => {})
    if (!place.ok) return place
    try {
      const writer = await this.#log.acquire()
      if (!writer.ok) return writer
      try {
        return await work((drafts) => this.#log.commit(writer.value, undefined, drafts))
      } finally {
        await this.#log.release(writer.value)
      }
    } finally {
      place.value.leave()
    }
  }

  /** Ends the running Turn at its next step; its calls get results that say so. */
  interrupt(): void {
    this.#admissions.interrupt()
  }

  /**
   * Text for the running Turn; it enters where the model listens next, and the Log in any case. False when no Turn listens
   * any more: then nothing was taken.
   */
  steer(typed: string): boolean {
    const text = this.#redactor.text(typed)
    if (this.#steering === undefined || unfit(text, false) !== undefined) return false
    this.#steering.push(text)
    return true
  }

  /** See `setPosture`. */
  setPermissionMode(permission_mode: PermissionMode): Promise<Result<void>> {
    return this.setPosture({ permission_mode })
  }

  /**
   * What a person says here and now, and the only way in which the Session may do more than it was left with. Recorded, and in
   * force when this answers: a running Turn's next call is decided under it, and the model is told at its next Turn.
   */
  async setPosture(posture: Posture): Promise<Result<void>> {
    const { mode, permission_mode } = this.state
    const { mode: nextMode = mode, permission_mode: nextPermission = permission_mode } = posture
    const data = {
      ...(nextMode === mode ? {} : { mode: nextMode }),
      ...(nextPermission === permission_mode ? {} : { permission_mode: nextPermission }),
    }
    if (Object.keys(data).length === 0) return ok(undefined)
    const said: EventDraft[] = [{ type: 'session_settings', data }]
    return this.#running === undefined
      ? this.between((record) => record(said))
      : this.#running(said)
  }

  /**
   * From the next Turn on another model answers. What was said stays as it was; reasoning goes back to nobody but the model
   * that wrote it. Recorded, with the surface that its requests begin with.
   */
  async setModel({ provider, model }: ModelChoice): Promise<Result<void>> {
    const { state } = this
    if (state.provider === provider && state.model === model) return ok(undefined)
    const known = await this.#parts.providerOf(provider)
    if (!known.ok) return known
    return this.between(async (record) => {
      const surface = await surfaceEvent(this.#parts, { provider, model }, 'reload')
      if (!surface.ok) return surface
      return record([{ type: 'session_settings', data: { provider, model } }, surface.value])
    })
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

  /** What a provider kept open for this Session is closed. */
  async #leaveProvider(): Promise<void> {
    if (this.state.turns === 0) return
    const provider = await this.#parts.providerOf(this.state.provider)
    if (provider.ok) provider.value.leave?.(this.id)
  }

  async #begin(asked: Beginning): Promise<Result<BegunTurn>> {
    const writer = await this.#log.acquire()
    if (!writer.ok) return writer
    try {
      return await this.#open(writer.value, asked)
    } catch (defect) {
      await this.#log.release(writer.value)
      throw defect
    }
  }

  /** Records how a Turn begins. Whatever comes to nothing gives the lock back. */
  async #open(
    writer: Writer,
    { text, resolved, views, options, signal, fresh }: Beginning,
  ): Promise<Result<BegunTurn>> {
    const turn = this.#parts.place.ids.turn()
    const surfaced = await this.#surface(writer)
    const late = await lateContext(this.#parts, this)
    const { ids } = this.#parts.place
    const names = new ResourceNames(ids, () => this.events)
    const opening = openingOf(this.#parts, this.events, {
      text,
      resolved,
      views,
      late,
      names,
      channel: options.channel,
      piped: options.piped,
    })
    const admitted = await (async () => {
      if (!surfaced.ok) return surfaced
      if (!opening.ok) return opening
      const { drafts, refused } = opening.value
      const recorded = await this.#log.commit(writer, turn, drafts)
      return recorded.ok ? (refused ?? ok(opening.value.left)) : recorded
    })()
    if (!admitted.ok) {
      await this.#log.release(writer)
      return admitted
    }
    const blobs = fresh.over(this.#parts.store)
    const more = { names, opening: admitted.value, store: blobs }
    const world = this.#world(writer, turn, signal, more)
    // A mode is a setting of the Session: said during a Turn, it still belongs to none.
    this.#running = (drafts) => this.#log.commit(writer, undefined, drafts)
    this.#steering = []
    return ok({ turn, run: () => this.#run(writer, world) })
  }

  /** A kill in the very first write can leave a Session without a surface; nothing was ever asked under it. */
  async #surface(writer: Writer): Promise<Result<void>> {
    if (this.events.some(({ type }) => type === 'prompt_surface')) return ok(undefined)
    const event = await surfaceEvent(this.#parts, this.state, 'session_start')
    return event.ok ? this.#log.commit(writer, undefined, [event.value]) : event
  }

  async #run(writer: Writer, world: TurnWorld): Promise<Result<TurnOutcome>> {
    try {
      const last = await lastRequestOf(this.#parts, this.events, this.#lastRequest)
      if (!last.ok) return await endUnrun(world, last)
      const parts = await turnParts(this.#parts, { ...world, lastRequest: last.value })
      if (!parts.ok) return await endUnrun(world, parts)
      const outcome = await runTurn(parts.value)
      if (!outcome.ok) return outcome
      this.#lastRequest = outcome.value.lastRequest
      return ok({ ...outcome.value, ended: this.#redactor.value(outcome.value.ended) })
    } finally {
      this.#running = undefined
      this.#steering = undefined
      await this.#log.release(writer)
    }
  }

  #world(
    writer: Writer,
    turn: TurnId,
    signal: AbortSignal,
    more: Pick<TurnWorld, 'names' | 'opening' | 'store'>,
  ): TurnWorld {
    return {
      ...more,
      session: this.id,
      turn,
      signal,
      events: () => this.events,
      state: () => this.state,
      mode: () => this.permissionMode,
      rules: this.rules,
      holdsKey: this.#holdsKey,
      lastRequest: this.#lastRequest,
      commit: (drafts) => this.#log.commit(writer, turn, drafts),
      publish: (notice) => this.#log.notice({ ...notice, session_id: this.id, turn_id: turn }),
      takeSteering: () => this.#steering?.splice(0) ?? [],
      endSteering: () => {
        const left = this.#steering ?? []
        this.#steering = undefined
        return left
      },
    }
  }
}

/** A Turn that could not even start still ends in the Log. */
async function endUnrun(world: TurnWorld, { error }: Failed): Promise<Result<TurnOutcome>> {
  const ended = { status: 'failed', error, usage_total: NO_USAGE } as const
  const recorded = await world.commit([{ type: 'turn_ended', data: ended }])
  return recorded.ok ? ok({ ended, lastRequest: undefined }) : recorded
}

/** Leaves when `work` comes to nothing; otherwise the place is kept. */
async function leavingUnless<T>(
  leave: () => void,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  let kept = false
  try {
    const result = await work()
    kept = result.ok
    return result
  } finally {
    if (!kept) leave()
  }
}

interface BegunTurn {
  readonly turn: TurnId
  readonly run: () => Promise<Result<TurnOutcome>>
}

/** What a Turn begins with. */
interface Beginning extends Required<Pick<AdmitOptions, 'views'>> {
  readonly text: string
  readonly resolved: readonly Resolved[]
  readonly options: AdmitOptions
  readonly signal: AbortSignal
  readonly fresh: FreshBlobs
}

function unfit(text: string, hasMore: boolean): Failed | undefined {
  if (text.trim() === '' && !hasMore) {
    return failed('invalid_args', 'There is nothing to ask: the message is blank.')
  }
  return over('message', text, LIMITS.user_text_bytes)
}

function tooMuchPiped(text = ''): Failed | undefined {
  return over('piped text', text, LIMITS.piped_text_bytes)
}

function over(what: string, text: string, limit: number): Failed | undefined {
  const actual = Buffer.byteLength(text)
  if (actual <= limit) return undefined
  const message = `The ${what} has ${actual} bytes; at most ${limit} are taken.`
  return failed('too_large', message, { limit, actual })
}
