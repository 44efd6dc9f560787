import type { BlobStore } from '../../blobs/store.ts'
import { gaugeOf } from '../../context/gauge.ts'
import { isAtLeast, tierOf } from '../../context/pressure.ts'
import { Redactor } from '../../encoding/redaction.ts'
import type { TurnResult } from '../../history/results/turn-result.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { EventDraft } from '../../model/events/event.ts'
import type { BlobKey, TurnId } from '../../model/ids.ts'
import type { SentRequest } from '../../request/sent-request.ts'
import { holdsKey } from '../../resources/holds-key.ts'
import { continuationNotice } from '../../turn/continue.ts'
import { endTurn } from '../../turn/end.ts'
import { openTurn, type TurnInput } from '../../turn/open.ts'
import type { Commit } from '../../turn/parts/pending-results.ts'
import { Steering } from '../../turn/parts/steering.ts'
import type { TurnParts } from '../../turn/parts/turn-parts.ts'
import type { CrashedTurn } from '../../turn/recover.ts'
import { runTurn } from '../../turn/run.ts'
import { judgeSkills } from '../../turn/skills/activations.ts'
import { usageBefore } from '../../turn/usage.ts'
import { turnSource, type AdmitOptions, type AdmittedTurn } from '../admission/admit-options.ts'
import { renewInputs } from '../admission/attachments.ts'
import type { SettingsChange } from '../admission/settings-change.ts'
import type { SessionQuestions } from '../questions/session-questions.ts'
import { resourceNamed } from '../reading/resource-named.ts'
import { resultOfTurn } from '../reading/result-of-turn.ts'
import { newSurfaceNotice } from '../surface/announce.ts'
import { recordedSurface, type RecordedSurface } from '../surface/recorded-surface.ts'
import { turnLog, type TurnLog } from './commit.ts'
import { surfaceToRecord } from './create.ts'
import { rememberRequest } from './last-request.ts'
import { lateContext } from './late-context.ts'
import type { LockedSession } from './locked-session.ts'
import type { SessionLog, Writer } from './session-log.ts'
import type { SessionParts } from './session-parts.ts'
import type { SessionRules } from './session-rules.ts'
import { settingsDrafts } from './session-settings.ts'
import { turnParts } from './turn-parts.ts'

/** What belongs to the Session whose Turns these are. */
interface OwnParts {
  readonly log: SessionLog
  readonly rules: SessionRules
  readonly questions: SessionQuestions
  /** This process created the Session. */
  readonly isNew: boolean
}

/** The place of a Turn in the order of Turns, and its store. */
export interface TurnPlace {
  /** Aborts when the Turn is interrupted. */
  readonly signal: AbortSignal
  readonly store: BlobStore
}

/** Opens and runs the Turns of one Session, one at a time, under a lock that the caller holds. */
export class SessionTurns {
  readonly #parts: SessionParts
  readonly #own: OwnParts
  readonly #log: SessionLog
  readonly #holdsKey: TurnParts['model']['holdsKey']
  #running: Commit | undefined
  #lastRequests: readonly SentRequest[] = []
  /** The surface in force when it was last read. */
  #surface: RecordedSurface | undefined
  /** The steering of the running Turn. */
  #steering: Steering | undefined

  constructor(parts: SessionParts, own: OwnParts) {
    this.#parts = parts
    this.#own = own
    this.#log = own.log
    this.#holdsKey = keyCheck(parts.log.secrets)
  }

  /** Appends Events that belong to no Turn; `undefined` while no Turn runs. */
  get record(): Commit | undefined {
    return this.#running
  }

  /** What the holder of the lock can do between two Turns. */
  lockedSession(writer: Writer, signal: AbortSignal): LockedSession {
    return {
      record: this.#log.commit(writer),
      ask: async (text, purpose) => {
        const input = { source: turnSource({}, this.#parts.person.presenter), text, purpose }
        const place = { signal, store: this.#parts.log.store }
        const started = await this.open(writer, input, {}, place)
        if (!started.ok) return started
        const { turn, done } = started.value
        const result = await done
        return result.ok ? ok(turn) : result
      },
      publish: (event) => this.#log.publish({ ...event, session_id: this.#log.id }),
      signal,
    }
  }

  /** Adds redacted text to the running Turn. Returns false if none accepts text. */
  steer(text: string): boolean {
    return this.#steering?.add(text) ?? false
  }

  /** Withdraws redacted text that the running Turn has not recorded yet. Returns false if there is none. */
  unsteer(text: string): boolean {
    return this.#steering?.withdraw(text) ?? false
  }

  async recordSettings(change: SettingsChange, record: Commit): Promise<Result<void>> {
    const drafts = await settingsDrafts(this.#parts, this.#log, change)
    if (!drafts.ok) return drafts
    return drafts.value.length === 0 ? ok(undefined) : record(drafts.value)
  }

  /** Compacts before a Turn if the person chose that policy, and the last usage was at least warning. */
  async compactByPolicy(writer: Writer, signal: AbortSignal): Promise<Result<void>> {
    const { model } = this.#parts
    if (model.pressure?.policy !== 'auto' || !isDue(model, this.#log)) return ok(undefined)
    const options = { trigger: 'policy_auto' } as const
    const { compactLocked } = await import('./locked-compaction.ts')
    const locked = this.lockedSession(writer, signal)
    const done = await compactLocked(this.#parts, this.#log, options, locked)
    return done.ok ? ok(undefined) : done
  }

  /** Records the opening Events of a Turn, and runs it. */
  async open(
    writer: Writer,
    message: TurnInput,
    options: Pick<AdmitOptions, 'skills' | 'skillsBy' | 'settings'>,
    place: TurnPlace,
  ): Promise<Result<AdmittedTurn>> {
    const { skillsBy = 'person' } = options
    const skills = await judgeSkills(this.#parts.tools.skills, options.skills ?? [], skillsBy)
    if (!skills.ok) return skills
    const own = this.#turnLog(writer, this.#parts.log.place.ids.turn(), place)
    const { attachments = [], mentions, purpose } = message
    const stored = await renewInputs(this.#parts.log.store, attachments, mentions?.mentions)
    if (!stored.ok) return stored
    const record = this.#log.commit(writer)
    const set = await this.recordSettings(options.settings ?? {}, record)
    if (!set.ok) return set
    const { events, state } = this.#log
    const surfaced = await surfaceToRecord(this.#parts, events, state)
    if (!surfaced.ok) return surfaced
    const isSurfaced = surfaced.value === undefined ? ok(undefined) : await record([surfaced.value])
    if (!isSurfaced.ok) return isSurfaced
    const put: BlobStore['put'] = (bytes, type) => place.store.put(bytes, type)
    const late =
      purpose === undefined ? await lateContext(this.#parts, this.#log, put) : ok(undefined)
    if (!late.ok) return late
    const input = { ...message, skills: skills.value, late: late.value }
    const opened = await openTurn(own.log, input)
    return opened.ok ? ok(this.#start(writer, own, place, input)) : opened
  }

  /** Continues a Turn that a crash left open before its model answered. It keeps its settings and its surface. */
  async continueTurn(
    writer: Writer,
    crashed: CrashedTurn,
    place: TurnPlace,
  ): Promise<Result<AdmittedTurn>> {
    const own = this.#turnLog(writer, crashed.turn, place)
    const noted = await own.log.commit([continuationNotice(crashed)])
    if (!noted.ok) return noted
    return ok({ ...this.#start(writer, own, place), continued: true })
  }

  #turnLog(writer: Writer, turn: TurnId, { store }: TurnPlace): TurnLog {
    const { questions } = this.#own
    const { place } = this.#parts.log
    const stages = this.#log.stages(writer, turn)
    const named = (handle: string) => resourceNamed(this.#parts.log, this.#log, handle)
    return turnLog(this.#log, { ...stages, turn, store, place, questions, resourceNamed: named })
  }

  /** Without input, the Turn continues. */
  #start(writer: Writer, own: TurnLog, { signal }: TurnPlace, input?: TurnInput): AdmittedTurn {
    // A mode belongs to the Session: even if it is set during a Turn, its Event belongs to no Turn.
    this.#running = this.#log.commit(writer)
    const steering = new Steering()
    // Text that is typed now would be hidden together with such a Turn.
    if (input?.purpose === undefined) this.#steering = steering
    const { turn } = own.log
    return { turn, done: this.#run({ ...own, signal, steering }, input) }
  }

  async #run(
    own: TurnLog & Pick<TurnParts['person'], 'signal' | 'steering'>,
    input: TurnInput | undefined,
  ): Promise<Result<TurnResult>> {
    const { log, steering } = own
    try {
      const { rules, questions } = this.#own
      const isContinued = input === undefined
      const purpose = input?.purpose
      const context = {
        ...own,
        holdsKey: this.#holdsKey,
        lastRequests: this.#lastRequests,
        recordedSurface: () => this.#recordedSurface(),
        purpose,
        isContinued,
      }
      const [parts, news] = await Promise.all([
        turnParts(this.#parts, { session: this.#log, rules, questions }, context),
        purpose === undefined && !isContinued ? this.#surfaceNews() : undefined,
      ])
      const announced = news === undefined ? ok(undefined) : await log.commit([news])
      if (!announced.ok) return announced
      if (parts.ok) {
        const sent = await runTurn(parts.value, input)
        if (!sent.ok) return sent
        this.#lastRequests = rememberRequest(this.#lastRequests, sent.value)
      } else {
        const ending = { how: 'loop', error: parts.error, usage: usageBefore(log) } as const
        const ended = await endTurn(log, ending, steering.end())
        if (!ended.ok) return ended
      }
    } finally {
      this.#running = undefined
      this.#steering = undefined
      this.#own.questions.turnEnded(log.turn)
    }
    return resultOfTurn(this.#parts.log, this.#log, log.turn)
  }

  async #recordedSurface(): Promise<Result<RecordedSurface>> {
    const { store } = this.#parts.log
    const found = await recordedSurface(store, this.#log.events, this.#surface)
    if (found.ok) this.#surface = found.value
    return found
  }

  /** About Skills and tools that changed since they were frozen. Nothing did if this process froze them just now. */
  async #surfaceNews(): Promise<EventDraft | undefined> {
    const { state, events } = this.#log
    if (this.#own.isNew && state.turns === 1) return undefined
    return newSurfaceNotice(this.#parts, state, events)
  }
}

/** Whether the last usage of the model was at least warning, and was not relieved since. */
function isDue(
  { pressure, factsOf, dialectNameOf }: SessionParts['model'],
  { state: { provider, model }, events }: Pick<SessionLog, 'state' | 'events'>,
): boolean {
  const window = factsOf(provider, model)?.window_tokens
  const gauge = gaugeOf(events, { model, dialect: dialectNameOf(provider) })
  if (window === undefined || gauge === undefined || gauge.wasUndone) return false
  return isAtLeast(tierOf(gauge.tokens, window, pressure?.limits), 'warning')
}

/**
 * Searches stored bytes for keys, once per blob: extracting the text of a PDF is slow, and neither blobs nor keys
 * change.
 */
function keyCheck(secrets: readonly string[]): TurnParts['model']['holdsKey'] {
  const redactor = new Redactor(secrets)
  const known = new Map<BlobKey, Promise<boolean>>()
  return (content, bytes) => {
    const found = known.get(content.blob) ?? holdsKey(content, bytes, redactor)
    known.set(content.blob, found)
    return found
  }
}
