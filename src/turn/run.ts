import { providerAfter } from '../history/provider-name.ts'
import { fromProvider } from './provider-error.ts'
import { countOf } from '../encoding/amounts.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import { LARGE_BODY } from '../model/segment.ts'
import { notice } from '../model/events/notice.ts'
import type { EventDraft } from '../model/events/event.ts'
import type { AnswerCut } from '../model/events/turn-events.ts'
import { RequestComposer, type ComposedRequest } from '../request/compose-request.ts'
import { asSent, sharedWith, type SentRequest } from '../request/sent-request.ts'
import { refusedResult, type ProviderAnswer, type AnswerToRecord } from './answer.ts'
import { CallIds } from './call-ids.ts'
import { deliveryOf } from './delivery.ts'
import { mayContinue } from './continue.ts'
import { endTurn, interruption, LEAVE_REASON, type Ending } from './end.ts'
import { nameInstructions } from './name-instructions.ts'
import { prepareTurn, type TurnInput } from './open.ts'
import { crashedTurn } from './recover.ts'
import { NO_NEWS, requestNews, type News } from './pressure/pressure-news.ts'
import { TurnPressure } from './pressure/turn-pressure.ts'
import { readAnswer, type CallOutcome } from './read-answer.ts'
import { overLimit, Tries, type NextTry } from './tries.ts'
import type { TurnParts } from './parts/turn-parts.ts'
import { lossDrafts, reducedNotices } from './resources/unshown.ts'
import { addUsage, NO_USAGE, usageBefore, type UsageTotal } from './usage.ts'

/**
 * Runs an open Turn to its end and records that end. The last Event of a Turn is always its `turn_ended`; if the Log cannot
 * be written, the next writer records it. Returns the last request of the Session. Without `input`, the Turn continues after a
 * crash: what its message brought is recorded.
 */
export async function runTurn(
  parts: TurnParts,
  input: Partial<TurnInput> = {},
): Promise<Result<SentRequest | undefined>> {
  const { log, person } = parts
  const loop = new Loop(parts)
  // What preceded a request is recorded, and the request follows from it.
  const isPrepared = parts.model.interruptedCall !== undefined
  const prepared = isPrepared ? ok(undefined) : await prepareTurn(parts, input)
  const run = () => (input.purpose === undefined ? loop.run() : loop.runOnce())
  const error = prepared.ok ? await run() : prepared.error
  const ending = parts.tools.ahead?.end()
  const { usage, cut, lastRequest } = loop
  const typed = person.steering.end()
  const { last } = loop
  const isLeft = person.signal.reason === LEAVE_REASON && typed.length === 0 && last === undefined
  if (isLeft && isUnanswered(log))
    return failed('interrupted', 'The Turn was left for the next process.')
  // Text that came too late for this Turn is recorded, and the next request contains it.
  const why = interruption(person.signal)
  const how = loop.isLost
    ? ({ how: 'crashed', usage } as const)
    : ({ how: 'loop', error, why, usage, cut } as const)
  const [ended] = await Promise.all([endWith(log, how, typed, last), ending])
  return ended.ok ? ok(lastRequest && asSent(lastRequest)) : ended
}

/** Ends the Turn in one write with its last answer. If the answer cannot be recorded, the Turn ends with that error. */
async function endWith(
  log: TurnParts['log'],
  ending: Ending,
  typed: readonly EventDraft[],
  last: LastAnswer | undefined,
): ReturnType<typeof endTurn> {
  if (last === undefined) return endTurn(log, ending, typed)
  const ended = await endTurn(log, ending, [...last.drafts, ...typed])
  if (!ended.ok) {
    return endTurn(log, { how: 'loop', error: ended.error, usage: last.usageBefore }, typed)
  }
  last.publish()
  return ended
}

/** An answer without calls, whose Events share a write with the end of the Turn or with what a person typed meanwhile. */
interface LastAnswer extends AnswerToRecord {
  /** Of the calls before it. */
  readonly usageBefore: UsageTotal
}

/**
 * Calls the model, runs the calls of its answer, and calls it again, until an answer has none. Every request is
 * durable, with everything it contains, before a byte of it is sent, and every answer before its calls run.
 */
class Loop {
  readonly #parts: TurnParts
  #composer: RequestComposer
  #callIds: CallIds
  usage: UsageTotal
  /** The request that ran before a crash cannot be composed again, for example by another version: it is not repeated. */
  isLost = false
  /** Set if the last answer was cut off; reset when the Turn continues. */
  cut: AnswerCut | undefined
  /** The last answer, until it is recorded. */
  last: LastAnswer | undefined
  /** The last request of this Turn that was sent. */
  #sentRequest: ComposedRequest | undefined
  /** The last request of this Turn, even if it is too large to be sent. */
  #lastComposed: ComposedRequest | undefined
  /** The request before the last, or the last if it is large: it was answered, and its body is no longer needed. */
  #spentRequest: ComposedRequest | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.#composer = newComposer(parts)
    this.#callIds = new CallIds(parts.log.events)
    this.usage = parts.model.interruptedCall === undefined ? NO_USAGE : usageBefore(parts.log)
  }

  /** The last request of the Session. */
  get lastRequest(): SentRequest | undefined {
    return this.#sentRequest ?? this.#parts.model.lastRequest
  }

  /** Returns why the Turn ended early; `undefined` if the model finished. */
  async run(): Promise<HawserError | undefined> {
    const { provider_calls } = this.#parts.model.limits
    for (let index = 0; index < provider_calls; index++) {
      const answer = await this.#call(index)
      if (!answer.ok) return this.#explain(answer.error)
      this.#take(answer.value)
      if (answer.value.calls.length === 0) {
        const steered = await this.#enterSteering()
        if (!steered.ok) return steered.error
        if (!steered.value && !answer.value.isPaused) return undefined
        continue
      }
      const cut = this.#cutNotices()
      const noted = cut.length === 0 ? ok(undefined) : await this.#parts.log.commit(cut)
      if (!noted.ok) return noted.error
      // Loaded with the first call: a request needs neither tools nor policy.
      const { settleTools } = await import('./settle-tools.ts')
      const settled = await settleTools(this.#parts, answer.value.calls)
      if (!settled.ok) return settled.error
      const named = await nameInstructions(this.#parts, settled.value)
      if (!named.ok) return named.error
      const steered = await this.#enterSteering()
      if (!steered.ok) return steered.error
    }
    const text = `This Turn made ${countOf(provider_calls, 'call')} to the model, which is the limit.`
    return failed('call_limit', text, { limit: provider_calls }, [
      { action: 'Send another message to continue; all work so far is kept.' },
    ]).error
  }

  /** Calls the model once and runs none of its calls: the answer is only text. */
  async runOnce(): Promise<HawserError | undefined> {
    const answer = await this.#call(0)
    if (!answer.ok) return this.#explain(answer.error)
    const { calls, isPaused } = answer.value
    this.#take(answer.value)
    if (calls.length === 0 && !isPaused) return undefined
    const refused = await this.#parts.log.commit(calls.map(refusedResult))
    if (!refused.ok) return refused.error
    const what = isPaused ? 'paused its answer' : 'called tools instead of answering'
    return failed('invalid_response', `The model ${what}.`).error
  }

  #take(answer: ProviderAnswer): void {
    const { toRecord, cut } = answer
    this.last = toRecord && { ...toRecord, usageBefore: this.usage }
    this.usage = addUsage(this.usage, answer)
    this.cut = cut
  }

  /** One call, retried after a compaction, or as long as nothing was shown and a retry may help. */
  async #call(call_index: number): Promise<Result<ProviderAnswer>> {
    const { model, person } = this.#parts
    if (person.signal.aborted) return interruptedTurn()
    const { interruptedCall: earlier } = model
    const repeated = earlier?.call_index === call_index ? earlier : undefined
    const pressure = new TurnPressure(this.#parts)
    const relieved = repeated === undefined ? await pressure.preflight() : ok(false)
    if (!relieved.ok) return relieved
    if (relieved.value) this.#startOver()
    const before = repeated === undefined ? this.lastRequest : repeated.before
    const answered = this.#sentRequest
    const composed = await this.#compose(before, this.#spentRequest)
    if (!composed.ok) return composed
    let request = composed.value
    const isAgain = repeated?.sha256 !== undefined
    this.isLost = isAgain && request.sha256 !== repeated.sha256
    if (this.isLost) return interruptedTurn()
    this.#spentRequest = isLarge(request) ? request : answered
    let news = isAgain ? NO_NEWS : await this.#news(request, pressure)
    const tries = new Tries(this.#parts)
    for (let attempt = repeated === undefined ? 0 : repeated.attempt + 1; ; attempt += 1) {
      const called =
        overLimit(model, request) ?? (await this.#try(request, { call_index, attempt, ...news }))
      if (called.ok) return called
      const recovered = await pressure.recover(called, request)
      if (!recovered.ok) return recovered
      if (recovered.value) this.#startOver()
      else if (called.wasShown) return called
      const next = recovered.value ? CHANGED : await tries.next(called.error, request)
      if (next === undefined) return called
      if (!next.ok) return next
      news = { drafts: next.value.drafts, publish: () => {} }
      if (!next.value.mustCompose) continue
      const again = await this.#compose(before)
      if (!again.ok) return again
      request = again.value
      news = await this.#news(request, pressure)
    }
  }

  /** After a compaction, which removed Events that both know by their places. */
  #startOver(): void {
    this.#composer = newComposer(this.#parts)
    this.#callIds = new CallIds(this.#parts.log.events)
    this.#spentRequest = undefined
  }

  /** What a person reads about a request before it is sent. */
  async #news(request: ComposedRequest, pressure: TurnPressure): Promise<News> {
    const reduced = reducedNotices(request, this.#parts.log.events())
    const all = [await pressure.news(request), requestNews(this.#parts, request)]
    return {
      drafts: [...reduced, ...all.flatMap(({ drafts }) => drafts)],
      publish: () => {
        for (const { publish } of all) publish()
      },
    }
  }

  /** Resources that cannot be shown are recorded first, so that every request follows from Events alone. */
  async #compose(
    before: SentRequest | undefined,
    spentRequest?: ComposedRequest,
  ): Promise<Result<ComposedRequest>> {
    const { events, commit, results } = this.#parts.log
    const { ahead } = results
    const request = await this.#composer.compose(events(), { before, spentRequest, ahead })
    if (this.#parts.person.signal.aborted) return interruptedTurn()
    if (request.failure !== undefined) return { ok: false, error: request.failure }
    this.#lastComposed = request
    if (request.losses.length === 0) return ok(request)
    const recorded = await commit(lossDrafts(request))
    if (!recorded.ok) return recorded
    const again = await this.#composer.compose(events(), { before })
    this.#lastComposed = again
    return again.failure === undefined ? ok(again) : { ok: false, error: again.failure }
  }

  /** Records the request, then sends it. */
  async #try(
    request: ComposedRequest,
    { call_index, attempt, drafts, publish }: Try,
  ): Promise<CallOutcome> {
    const { log, model } = this.#parts
    const { provider, surface, cacheKey } = model
    const shared = sharedWith(this.lastRequest, request)
    const delivery = deliveryOf(this.#parts, request, this.lastRequest, shared)
    this.#sentRequest = request
    const data = {
      call_index,
      attempt,
      dialect: provider.dialect,
      model: surface.model,
      contract_version: surface.contract_version,
      cache_key: cacheKey,
      request_sha256: request.sha256,
      request_bytes: request.body.length,
      ...shared,
      ...(request.projections.length === 0 ? {} : { projected: request.projections }),
      transport: delivery.transport,
      ...(delivery.sentBytes === undefined ? {} : { sent_bytes: delivery.sentBytes }),
      ...(delivery.continuation?.used === true ? { previous_response_id_used: true } : {}),
    }
    const intention = await log.commit([...drafts, { type: 'provider_request', data }])
    if (!intention.ok) return { ...intention, wasShown: true }
    publish()
    const { ahead } = this.#parts.tools
    ahead?.answering()
    const onCall = (name: string) => ahead?.onCall(name)
    return readAnswer({ parts: this.#parts, callIds: this.#callIds, call_index, onCall }, delivery)
  }

  /** Without this notice, an answer that was cut off but does not end the Turn would go unnoticed. */
  #cutNotices(): readonly EventDraft[] {
    if (this.cut === undefined) return []
    const { stop_reason, lost_calls } = this.cut
    this.cut = undefined
    const lost = lost_calls === 0 ? '' : ` Incomplete tool calls that did not run: ${lost_calls}.`
    return [notice('answer_cut', `An answer was cut off (${stop_reason}).${lost}`)]
  }

  /** Adds text that was typed while the Turn ran to the next request. */
  async #enterSteering(): Promise<Result<boolean>> {
    const { log, person } = this.#parts
    const drafts = person.steering.take()
    if (drafts.length === 0) return ok(false)
    const { last } = this
    this.last = undefined
    const entered = await log.commit([...(last?.drafts ?? []), ...this.#cutNotices(), ...drafts])
    if (entered.ok) last?.publish()
    return entered.ok ? ok(true) : entered
  }

  /** With the provider's name; for a request that does not fit, also what fills it, and what can be done. */
  async #explain(cause: HawserError): Promise<HawserError> {
    const request = this.#lastComposed
    const error = fromProvider(cause, providerAfter(this.#parts.log.events()))
    if (error.kind !== 'context_overflow' || request === undefined) return error
    const recorded = await this.#parts.log.commit([])
    if (!recorded.ok) return recorded.error
    const { fullWindow } = await import('./pressure/full-window.ts')
    return fullWindow(error, request, this.#parts)
  }
}

interface Try extends News {
  readonly call_index: number
  readonly attempt: number
}

/** The conversation was compacted. */
const CHANGED: Result<NextTry> = ok({ mustCompose: true, drafts: [] })

function newComposer({ log, model, person }: TurnParts): RequestComposer {
  const variants = { maker: model.variants, signal: person.signal, clock: log.clock }
  return new RequestComposer({ ...model, store: log.store, variants }, log.turn)
}

/** Two large bodies in memory are too many; hashing one again is faster than building it. */
function isLarge({ body }: ComposedRequest): boolean {
  return body.length >= LARGE_BODY
}

/** Whether the next process can continue this Turn. */
function isUnanswered({ events, turn }: TurnParts['log']): boolean {
  const crashed = crashedTurn(events())
  return crashed?.turn === turn && mayContinue(crashed)
}

function interruptedTurn(): Result<never> {
  return failed('interrupted', 'The Turn was interrupted.')
}
