import { gaugeOf, isRelieved, type Gauge } from '../../context/gauge.ts'
import { isFruitlessNews, tierOf } from '../../context/pressure.ts'
import { causeOf, ok, type Result } from '../../model/errors.ts'
import { ANSWER_REPEATED, notice } from '../../model/events/notice.ts'
import type { ComposedRequest } from '../../request/compose-request.ts'
import type { FailedCall } from '../parts/failed-call.ts'
import type { TurnParts } from '../parts/turn-parts.ts'
import { NO_NEWS, type News } from './pressure-news.ts'
import type { TurnCompaction } from './turn-compaction.ts'

/** A provider that refuses for length again and again ends the Turn. */
const MOST_RECOVERIES = 3

const REPEATED =
  'The connection failed during the answer. The conversation was compacted just before, so the model is asked for the whole answer again.'

/**
 * Compacts the conversation of a running Turn, before a call because the last usage was critical, and after a call that
 * failed because of its length. One instance for each call.
 */
export class TurnPressure {
  readonly #parts: TurnParts
  /** What the last recovery of this call aimed at or reached. */
  #lastTarget: number | undefined
  #recoveries = 0
  #isRepeat = false
  /** The tokens of the critical usage, if a preflight found too little to compact. */
  #fruitless: number | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** Whether the conversation was compacted. An undo is respected: the same usage does not act again. */
  async preflight(): Promise<Result<boolean>> {
    const gauge = this.#critical()
    if (gauge === undefined || gauge.wasUndone) return ok(false)
    const done = await this.#compact({ trigger: 'critical_pressure_preflight' })
    if (done.ok && done.value === undefined) this.#fruitless = gauge.tokens
    return asDone(done)
  }

  /** What a person reads about a preflight that would not have made enough room. */
  async news(request: ComposedRequest): Promise<News> {
    const { log, model } = this.#parts
    const window = model.facts?.window_tokens
    if (this.#fruitless === undefined || window === undefined) return NO_NEWS
    if (!isFruitlessNews(log.events())) return NO_NEWS
    const { fruitlessNews } = await import('./full-window.ts')
    return fruitlessNews(this.#fruitless, request, this.#parts, window)
  }

  /** Whether the conversation was compacted after a failed call, so that the call is to be repeated. */
  async recover(call: FailedCall, request: ComposedRequest): Promise<Result<boolean>> {
    if (this.#parts.context.withoutCompaction) return ok(false)
    if (this.#isLostSocket(call)) return this.#repeat(call)
    if (call.wasShown || call.error.kind !== 'context_overflow') return ok(false)
    if (this.#recoveries >= MOST_RECOVERIES || this.#isTooFar(call, request)) return ok(false)
    this.#recoveries += 1
    const target = this.#lastTarget === undefined ? undefined : Math.floor(this.#lastTarget / 2)
    const done = await this.#compact({ trigger: 'overflow_recovery', target })
    if (done.ok) this.#lastTarget = done.value ?? target
    return asDone(done)
  }

  /**
   * Once for each call. This alone repeats a call that showed something: smaller than it was, or after a preflight that left
   * nothing to compact.
   */
  async #repeat({ wasShown }: FailedCall): Promise<Result<boolean>> {
    this.#isRepeat = true
    const { log } = this.#parts
    const trigger = 'websocket_critical_recovery'
    const relieved = isRelieved(log.events())
    const compacted = asDone(await this.#compact({ trigger }))
    if (!compacted.ok) return compacted
    if (!compacted.value) {
      // A call that showed nothing is retried like any other.
      if (!relieved || !wasShown) return ok(false)
      const noted = await log.commit([notice(ANSWER_REPEATED, REPEATED)])
      if (!noted.ok) return noted
    }
    log.publish({ type: 'stream_restarted', data: { reason: trigger } })
    return ok(true)
  }

  /** A socket that dies while the last usage is critical was probably closed for the length of the request. */
  #isLostSocket({ error }: FailedCall): boolean {
    const cause = causeOf(error)
    if (this.#isRepeat || cause?.type !== 'provider' || cause.lostSocket !== true) return false
    return this.#critical() !== undefined || isRelieved(this.#parts.log.events())
  }

  /** The request exceeds a known limit by more bytes than a compaction can save. */
  #isTooFar({ excess }: FailedCall, { segments }: ComposedRequest): boolean {
    if (excess === undefined) return false
    const { events, turn } = this.#parts.log
    const start = events().find(({ type, turn_id }) => type === 'turn_started' && turn_id === turn)
    const history = segments.reduce(
      (sum, { seq, role, length }) =>
        seq >= 0 && (seq < (start?.seq ?? 0) || role === 'tool_result') ? sum + length : sum,
      0,
    )
    return history < excess
  }

  /** The gauge, if it is critical. */
  #critical(): Gauge | undefined {
    const { log, model, context } = this.#parts
    const window = model.facts?.window_tokens
    if (context.withoutCompaction || window === undefined) return undefined
    const { dialect } = model.provider
    const gauge = gaugeOf(log.events(), { dialect, model: model.surface.model })
    if (gauge === undefined) return undefined
    return tierOf(gauge.tokens, window, context.limits) === 'critical' ? gauge : undefined
  }

  /** Loaded with the first compaction: nearly all Turns need none. */
  async #compact(how: TurnCompaction): Promise<Result<number | undefined>> {
    const { compactInTurn } = await import('./turn-compaction.ts')
    const done = await compactInTurn(this.#parts, how)
    if (done.ok && done.value !== undefined) this.#fruitless = undefined
    return done
  }
}

function asDone(compacted: Result<number | undefined>): Result<boolean> {
  return compacted.ok ? ok(compacted.value !== undefined) : compacted
}
