import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import { addUsage, NO_USAGE } from './usage.ts'
import { asSent, type SentRequest } from '../request/compose-request.ts'
import { ModelCalls } from './model-calls.ts'
import { endTurn, type TurnEnded } from './end.ts'
import { prepareTurn, type Unrecorded } from './open.ts'
import { settleTools } from './settle-tools.ts'
import type { TurnParts } from './turn-parts.ts'

/** How a Turn ended, and the request it ended with. */
export interface TurnOutcome {
  readonly ended: TurnEnded
  readonly lastRequest: SentRequest | undefined
}

/**
 * Runs a Turn whose `turn_started` and `user_message` are durable, to its end, and records that end. Whatever happens, the
 * last Event of the Turn is its `turn_ended`; only a Log that cannot be written to prevents that, and then the next writer
 * records it.
 */
export async function runTurn(
  parts: TurnParts,
  unrecorded: Unrecorded,
): Promise<Result<TurnOutcome>> {
  const { log, person } = parts
  const loop = new Loop(parts)
  const prepared = await prepareTurn(parts, unrecorded)
  const error = prepared.ok ? await loop.run() : prepared.error
  const { usage, cut, lastRequest } = loop
  // What came too late for this Turn is not lost: it is in the Log, and the next request shows it.
  const ended = await endTurn(log, { how: 'loop', error, usage, cut }, person.steering.end())
  return ended.ok ? ok({ ended: ended.value, lastRequest }) : ended
}

class Loop {
  readonly #parts: TurnParts
  readonly #model: ModelCalls
  usage = NO_USAGE
  /** Of the last answer, until the Turn goes on. */
  cut: AnswerCut | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.#model = new ModelCalls(parts)
  }

  get lastRequest(): SentRequest | undefined {
    const { lastRequest } = this.#model
    return lastRequest && asSent(lastRequest)
  }

  /** `undefined` when the model came to its end. */
  async run(): Promise<HawserError | undefined> {
    const { provider_calls } = this.#parts.model.limits
    for (let index = 0; index < provider_calls; index++) {
      const answer = await this.#model.call(index)
      if (!answer.ok) return answer.error
      this.usage = addUsage(this.usage, answer.value)
      this.cut = answer.value.cut
      if (answer.value.calls.length === 0) {
        const steered = await this.#enterSteering()
        if (!steered.ok) return steered.error
        if (!steered.value && !answer.value.paused) return undefined
        continue
      }
      const noted = await this.#noteCut()
      if (!noted.ok) return noted.error
      const settled = await settleTools(this.#parts, answer.value.calls)
      if (!settled.ok) return settled.error
      const steered = await this.#enterSteering()
      if (!steered.ok) return steered.error
    }
    const text = `This Turn made ${provider_calls} calls to the model, which is the limit.`
    return failed('call_limit', text, { limit: provider_calls }, [
      { action: 'Say how to go on; nothing of what was done is lost.' },
    ]).error
  }

  /** An answer that was cut off and does not end the Turn has no other mark that people see. */
  async #noteCut(): Promise<Result<void>> {
    if (this.cut === undefined) return ok(undefined)
    const { stop_reason, lost_calls } = this.cut
    this.cut = undefined
    const lost = lost_calls === 0 ? '' : ` Incomplete tool calls that did not run: ${lost_calls}.`
    const text = `An answer was cut off (${stop_reason}).${lost}`
    return this.#parts.log.commit([{ type: 'notice', data: { code: 'answer_cut', text } }])
  }

  /** Texts typed while the Turn ran enter where the model listens next. */
  async #enterSteering(): Promise<Result<boolean>> {
    const { log, person } = this.#parts
    const drafts = person.steering.take()
    if (drafts.length === 0) return ok(false)
    const noted = await this.#noteCut()
    if (!noted.ok) return noted
    const entered = await log.commit(drafts)
    return entered.ok ? ok(true) : entered
  }
}
