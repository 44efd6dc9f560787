import { gaugeOf } from '../../context/gauge.ts'
import { isAtLeast, tierOf } from '../../context/pressure.ts'
import { Redactor } from '../../encoding/redaction.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import { continuationNotice } from '../../turn/continue.ts'
import { endTurn } from '../../turn/end.ts'
import { openTurn } from '../../turn/open.ts'
import { Steering } from '../../turn/parts/steering.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { CrashedTurn } from '../../turn/recover.ts'
import { runTurn, type TurnOutcome } from '../../turn/run.ts'
import { judgeSkills } from '../../turn/skills/activations.ts'
import { usageBefore } from '../../turn/usage.ts'
import { turnSource } from '../admission/admit-options.ts'
import { renewInputs } from '../admission/attachments.ts'
import { FreshBlobs } from '../admission/fresh-blobs.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import { newSurfaceNotice } from '../surface/announce.ts'
import { recordedSurface, type RecordedSurface } from '../surface/recorded-surface.ts'
import { surfaceToRecord } from './create.ts'
import { keyCheck } from './key-check.ts'
import { rememberRequest } from './last-request.ts'
import { lateContext } from './late-context.ts'
import type { CompactedSession, LockedSession } from './locked-compaction.ts'
import type { SessionLog, Writer } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import { settingsDrafts } from './session-settings.ts'
import { turnLog } from './turn-log.ts'
import { turnParts } from './turn-parts.ts'
import type { AskModel, BegunTurn, OpenedTurn, RecordEvents, TurnRequest } from './turn-request.ts'

/** The Session whose Turns these are. */
type OwnSession = Parameters<typeof turnParts>[1] &
  Parameters<typeof turnLog>[0] &
  Parameters<typeof lateContext>[1] &
  CompactedSession

interface OwnLog {
  readonly log: SessionLog
  /** This process created the Session. */
  readonly isNew: boolean
}

/** Opens and runs the Turns of one Session, one at a time, under a lock that the caller holds. */
export class SessionTurns {
  readonly #parts: SessionParts
  readonly #session: OwnSession
  readonly #log: SessionLog
  readonly #isNew: boolean
  readonly #redactor: Redactor
  readonly #holdsKey: TurnParts['model']['holdsKey']
  #running: RecordEvents | undefined
  #lastRequests: readonly SentRequest[] = []
  /** The surface in force when it was last read. */
  #surface: RecordedSurface | undefined
  /** The steering of the running Turn. */
  #steering: Steering | undefined

  constructor(parts: SessionParts, session: OwnSession, { log, isNew }: OwnLog) {
    this.#parts = parts
    this.#session = session
    this.#log = log
    this.#isNew = isNew
    this.#redactor = new Redactor(parts.log.secrets)
    this.#holdsKey = keyCheck(parts.log.secrets)
  }

  /** Appends Events that belong to no Turn; `undefined` while no Turn runs. */
  get record(): RecordEvents | undefined {
    return this.#running
  }

  #recording(writer: Writer): RecordEvents {
    return (drafts) => this.#log.commit(writer, undefined, drafts)
  }

  /** What the holder of the lock can do between two Turns. */
  locked(writer: Writer, signal: AbortSignal): LockedSession {
    return {
      record: this.#recording(writer),
      ask: this.#asking(writer, signal),
      publish: (notice) => this.#log.notice({ ...notice, session_id: this.#log.session }),
    }
  }

  /** Adds redacted text to the running Turn. Returns false if none accepts text. */
  steer(text: string): boolean {
    return this.#steering?.add(text) ?? false
  }

  async recordSettings(change: SettingsChange, record: RecordEvents): Promise<Result<void>> {
    const drafts = await settingsDrafts(this.#parts, this.#session.state, change)
    if (!drafts.ok) return drafts
    return drafts.value.length === 0 ? ok(undefined) : record(drafts.value)
  }

  #asking(writer: Writer, signal: AbortSignal): AskModel {
    return async (text, purpose) => {
      const nothing = {
        resolved: [],
        mentioned: { mentions: [], errors: [] },
        views: [],
        options: {},
        fresh: new FreshBlobs(),
      }
      const started = await this.open(writer, { ...nothing, text, purpose, signal })
      if (!started.ok) return started
      const { turn, run } = started.value
      const outcome = await run()
      return outcome.ok ? ok(turn) : outcome
    }
  }

  /** Compacts before a Turn if the person chose that policy, and the last usage was at least warning. */
  async compactByPolicy(writer: Writer, signal: AbortSignal): Promise<Result<void>> {
    const { model } = this.#parts
    if (model.pressure?.policy !== 'auto' || !isDue(model, this.#session)) return ok(undefined)
    const options = { trigger: 'policy_auto' } as const
    const { compactLocked } = await import('./locked-compaction.ts')
    const done = await compactLocked(
      this.#parts,
      this.#session,
      options,
      this.locked(writer, signal),
    )
    return done.ok ? ok(undefined) : done
  }

  /** Records the opening Events of a Turn. */
  async open(
    writer: Writer,
    { text, resolved, mentioned, views, options, signal, fresh, purpose }: TurnRequest,
  ): Promise<Result<BegunTurn>> {
    const { piped, presenterContext, skillsBy = 'person' } = options
    const skills = await judgeSkills(this.#parts.tools.skills, options.skills ?? [], skillsBy)
    if (!skills.ok) return skills
    const { place, store: shared } = this.#parts.log
    const log = turnLog(this.#session, {
      log: this.#log,
      writer,
      store: fresh.over(shared),
      place,
    })
    const stored = await renewInputs(shared, resolved, mentioned)
    if (!stored.ok) return stored
    const record = this.#recording(writer)
    const set = await this.recordSettings(options.settings ?? {}, record)
    if (!set.ok) return set
    const { events, state } = this.#session
    const surfaced = await surfaceToRecord(this.#parts, events, state)
    if (!surfaced.ok) return surfaced
    const isSurfaced = surfaced.value === undefined ? ok(undefined) : await record([surfaced.value])
    if (!isSurfaced.ok) return isSurfaced
    const put: typeof log.store.put = (bytes, type) => log.store.put(bytes, type)
    const late =
      purpose === undefined ? await lateContext(this.#parts, this.#session, put) : ok(undefined)
    if (!late.ok) return late
    const source = turnSource(options, this.#parts.person.presenter)
    const opened = await openTurn(log, {
      source,
      text,
      resolved,
      mentioned,
      views,
      skills: skills.value,
      late: late.value,
      piped,
      presenterContext,
      purpose,
    })
    if (!opened.ok) return opened
    return ok(this.#begun(writer, { log, signal, preparation: opened.value }))
  }

  /** Continues a Turn that a crash left open before its model answered. It keeps its settings and its surface. */
  async goOn(
    writer: Writer,
    crashed: CrashedTurn,
    { signal, fresh }: Pick<TurnRequest, 'signal' | 'fresh'>,
  ): Promise<Result<BegunTurn>> {
    const { place, store: shared } = this.#parts.log
    const log = turnLog(this.#session, {
      log: this.#log,
      writer,
      store: fresh.over(shared),
      place,
      turn: crashed.turn,
    })
    const noted = await log.commit([continuationNotice(crashed)])
    if (!noted.ok) return noted
    // Its late context was recorded with its message, and a message that can continue names nothing else.
    const preparation = { views: [], skills: [], late: undefined }
    const continued = true
    return ok({ ...this.#begun(writer, { log, signal, preparation, continued }), continued })
  }

  #begun(writer: Writer, opened: Omit<OpenedTurn, 'steering'>): BegunTurn {
    // A mode belongs to the Session: even if it is set during a Turn, its Event belongs to no Turn.
    this.#running = this.#recording(writer)
    const steering = new Steering()
    // Text that is typed now would be hidden together with such a Turn.
    if (opened.preparation.purpose === undefined) this.#steering = steering
    return { turn: opened.log.turn, run: () => this.#run({ ...opened, steering }) }
  }

  async #run(opened: OpenedTurn): Promise<Result<TurnOutcome>> {
    const { log, steering, signal, preparation, continued = false } = opened
    try {
      const own = {
        log,
        steering,
        signal,
        holdsKey: this.#holdsKey,
        lastRequests: this.#lastRequests,
        recordedSurface: () => this.#recordedSurface(),
        purpose: preparation.purpose,
        continued,
      }
      const [parts, news] = await Promise.all([
        turnParts(this.#parts, this.#session, own),
        preparation.purpose === undefined && !continued ? this.#surfaceNews() : undefined,
      ])
      const announced = news === undefined ? ok(undefined) : await log.commit([news])
      if (!announced.ok) return announced
      if (!parts.ok) {
        const { error } = parts
        const ended = await endTurn(
          log,
          { how: 'loop', error, usage: usageBefore(log) },
          steering.end(),
        )
        return ended.ok ? ok({ ended: ended.value, lastRequest: undefined }) : ended
      }
      const outcome = await runTurn(parts.value, preparation)
      if (!outcome.ok) return outcome
      this.#lastRequests = rememberRequest(this.#lastRequests, outcome.value.lastRequest)
      return ok({ ...outcome.value, ended: this.#redactor.value(outcome.value.ended) })
    } finally {
      this.#running = undefined
      this.#steering = undefined
      this.#session.questions.turnEnded(log.turn)
    }
  }

  async #recordedSurface(): Promise<Result<RecordedSurface>> {
    const { store } = this.#parts.log
    const found = await recordedSurface(store, this.#session.events, this.#surface)
    if (found.ok) this.#surface = found.value
    return found
  }

  /** About Skills and tools that changed since they were frozen. Nothing did if this process froze them just now. */
  async #surfaceNews(): Promise<EventDraft | undefined> {
    const { state, events } = this.#session
    if (this.#isNew && state.turns === 1) return undefined
    return newSurfaceNotice(this.#parts, state, events)
  }
}

/** Whether the last usage of the model was at least warning, and was not relieved since. */
function isDue(
  { pressure, factsOf, dialectNameOf }: SessionParts['model'],
  { state: { provider, model }, events }: Pick<CompactedSession, 'state' | 'events'>,
): boolean {
  const window = factsOf(provider, model)?.window_tokens
  const gauge = gaugeOf(events, { model, dialect: dialectNameOf(provider) })
  if (window === undefined || gauge === undefined || gauge.undone) return false
  return isAtLeast(tierOf(gauge.tokens, window, pressure?.limits), 'warning')
}
