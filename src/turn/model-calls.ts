import { wait } from '../host/wait.ts'
import { SessionResources } from '../history/session-resources.ts'
import { failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { LARGE_BODY } from '../model/segment.ts'
import type { Passage } from '../providers/provider.ts'
import { CallIds } from './call-ids.ts'
import { callProvider, type FailedCall, type ProviderAnswer } from './call-provider.ts'
import {
  RequestComposer,
  sharedWith,
  type ComposedRequest,
  type SentRequest,
  type Shared,
} from '../request/compose-request.ts'
import type { Unfit } from '../request/fit-parts.ts'
import { refusedResources } from './refused-resources.ts'
import { retryIn } from './retry.ts'
import type { TurnParts } from './turn-parts.ts'

/**
 * The calls of one Turn to its model. Each is tried again for as long as nothing was shown and that may help, and once more
 * without what the provider refused to look at. The intention of every try is durable before a byte of it is sent.
 */
export class ModelCalls {
  readonly #parts: TurnParts
  readonly #composer: RequestComposer
  /** The one before the last, or the last if it is large: it was answered, and nobody reads its body any more. */
  #spent: ComposedRequest | undefined
  readonly #callIds: CallIds
  /** The last one of this Turn that was sent. */
  #last: ComposedRequest | undefined
  /** The last one of this Turn, also if it is too large to be sent. */
  #composed: ComposedRequest | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
    const { log, model, person } = parts
    const variants = { maker: model.variants, signal: person.signal, clock: log.clock }
    this.#composer = new RequestComposer({ ...model, store: log.store, variants }, log.turn)
    this.#callIds = new CallIds(log.events)
  }

  /** The last one of the Session. */
  get lastRequest(): SentRequest | undefined {
    return this.#last ?? this.#parts.model.lastRequest
  }

  async call(call_index: number): Promise<Result<ProviderAnswer>> {
    const answer = await this.#call(call_index)
    const request = this.#composed
    if (answer.ok || answer.error.kind !== 'context_overflow' || request === undefined)
      return answer
    const { fullWindow } = await import('./full-window.ts')
    return { ok: false, error: fullWindow(answer.error, request, this.#parts) }
  }

  async #call(call_index: number): Promise<Result<ProviderAnswer>> {
    if (this.#parts.person.signal.aborted) return interrupted()
    const before = this.lastRequest
    const answered = this.#last
    const composed = await this.#compose(before, this.#spent)
    if (!composed.ok) return composed
    let request = composed.value
    this.#spent = isLarge(request) ? request : answered
    let told = this.#unfit(request)
    let refusals = 0
    let overflows = 0
    let invalid = 0
    let otherWays = MOST_WAYS
    for (let attempt = 0; ; attempt += 1) {
      const called =
        overLimit(this.#parts.model, request) ??
        (await this.#try(request, { call_index, attempt, told }))
      if (called.ok || called.shown) return called
      const { error } = called
      const refused = refusals === 0 ? refusedResources(error, request) : []
      const leftOut = error.kind === 'context_overflow' ? tooMuch(request, overflows) : []
      if (refused.length > 0 || leftOut.length > 0) {
        if (refused.length > 0) refusals += 1
        else overflows += 1
        const recorded = await (refused.length > 0
          ? this.#quarantine(refused, error)
          : this.#leaveOut(leftOut))
        const again = recorded.ok ? await this.#compose(before) : recorded
        if (!again.ok) return again
        request = again.value
        told = this.#unfit(request)
        continue
      }
      if (error.details['again'] === true && otherWays > 0) {
        otherWays -= 1
        told = [retryNotice(error)]
        continue
      }
      const ms = retryIn(error, { attempt, invalid }, this.#parts.model.retry)
      if (ms === undefined) return called
      if (error.kind === 'invalid_response') invalid += 1
      told = [retryNotice(error)]
      const waited = await this.#wait(ms, error)
      if (!waited.ok) return waited
    }
  }

  /** What was to be shown and cannot be is recorded first: then every request follows from Events alone. */
  async #compose(
    before: SentRequest | undefined,
    spent?: ComposedRequest,
  ): Promise<Result<ComposedRequest>> {
    const { events, commit } = this.#parts.log
    const request = await this.#composer.compose(events(), { before, spent })
    if (this.#parts.person.signal.aborted) return interrupted()
    if (request.failure !== undefined) return { ok: false, error: request.failure }
    this.#composed = request
    if (request.lost.length === 0) return ok(request)
    const recorded = await commit(lossDrafts(request))
    if (!recorded.ok) return recorded
    const again = await this.#composer.compose(events(), { before })
    this.#composed = again
    return again.failure === undefined ? ok(again) : { ok: false, error: again.failure }
  }

  /** Records the intention, and sends. */
  async #try(
    request: ComposedRequest,
    tried: Pick<Intention, 'call_index' | 'attempt' | 'told'>,
  ): ReturnType<typeof callProvider> {
    const shared = sharedWith(this.lastRequest, request)
    const passage = this.#passage(request, shared)
    const intention = await this.#intend(request, { ...tried, shared, passage })
    if (!intention.ok) return { ...intention, shown: true }
    return callProvider(this.#parts, passage, {
      call_index: tried.call_index,
      unusedId: (id) => this.#callIds.unused(id),
    })
  }

  async #intend(
    request: ComposedRequest,
    { call_index, attempt, told, shared, passage }: Intention,
  ): Promise<Result<void>> {
    const { log, model } = this.#parts
    const { provider, surface, cacheKey } = model
    this.#last = request
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
      ...(request.projected.length === 0 ? {} : { projected: request.projected }),
      transport: passage.transport,
      ...(passage.sentBytes === undefined ? {} : { sent_bytes: passage.sentBytes }),
      ...(passage.continuation?.used === true ? { previous_response_id_used: true } : {}),
    }
    return log.commit([...told, { type: 'provider_request', data }])
  }

  /** Most providers have one way; others are asked before anything is recorded. */
  #passage(request: ComposedRequest, { prefix_break }: Shared): Passage {
    const { session } = this.#parts.log
    const { provider } = this.#parts.model
    const { body, sha256, segments, framing } = request
    const plain: Passage = {
      transport: provider.dialect === 'rehearsal' ? 'in-process' : 'http-sse',
      stream: (signal) => provider.stream(body, signal),
    }
    if (provider.passage === undefined) return plain
    const before = this.lastRequest
    const last = before && { sha256: before.sha256, count: before.run.count }
    const brokenBy = prefix_break?.cause
    return provider.passage({ session, body, sha256, segments, last, brokenBy, framing })
  }

  /** What the model is not shown is said once to the person too. */
  #unfit({ unfit, unmade }: ComposedRequest): EventDraft[] {
    if (unfit.length === 0) return []
    const said = new Set(
      this.#parts.log
        .events()
        .flatMap((event) => (event.type === 'notice' ? [event.data.text] : [])),
    )
    const texts = [...notShown(unfit), ...unmade].filter((text) => !said.has(text))
    return texts.map((text) => notice('resource_not_shown', text))
  }

  async #quarantine(
    refused: ReturnType<typeof refusedResources>,
    { message, details }: HawserError,
  ): Promise<Result<void>> {
    const { status, code } = details
    const provider_error = {
      message,
      ...(typeof status === 'number' ? { status } : {}),
      ...(typeof code === 'string' ? { code } : {}),
    }
    const { dialect } = this.#parts.model.provider
    const gone = refused.map((resource_id): EventDraft => {
      return { type: 'resource_quarantined', data: { resource_id, dialect, provider_error } }
    })
    const many = refused.length === 1 ? 'An attachment was' : `${refused.length} attachments were`
    const text = `${many} refused by the model's provider and will not be shown to it again: ${message}`
    return this.#parts.log.commit([...gone, notice('resource_quarantined', text)])
  }

  /** Without them the request may fit. The Turn goes on, and they are not carried into the next. */
  async #leaveOut(projected: ComposedRequest['projected']): Promise<Result<void>> {
    const known = new SessionResources(this.#parts.log.events())
    const ids = [...new Set(projected.map(({ resource_id }) => resource_id))]
    const gone = ids.map((resource_id): EventDraft => {
      return { type: 'resource_retired', data: { resource_id, why: 'too_large' } }
    })
    const handles = ids.map((id) => known.byId(id)?.descriptor.handle ?? id)
    const text = `Not shown to the model, because the request is larger than it takes: ${handles.join(', ')}.`
    return this.#parts.log.commit([...gone, notice('resource_not_shown', text)])
  }

  async #wait(ms: number, { kind }: HawserError): Promise<Result<void>> {
    const { publish, clock } = this.#parts.log
    const { signal } = this.#parts.person
    const text = `${kind.replaceAll('_', ' ')}: trying again in ${(ms / 1000).toFixed(1)} s`
    publish({ type: 'status', data: { text } })
    await wait(clock, ms, signal)
    return signal.aborted ? interrupted() : ok(undefined)
  }
}

/** Two large bodies at once are one too many; to hash all of one again takes less time than to make it. */
function isLarge({ body }: ComposedRequest): boolean {
  return body.length >= LARGE_BODY
}

/** A provider that knows no better way soon fails like any other. */
const MOST_WAYS = 2

interface Intention {
  readonly call_index: number
  readonly attempt: number
  readonly told: readonly EventDraft[]
  readonly shared: Shared
  readonly passage: Passage
}

/** One sentence a reason. */
function notShown(unfit: readonly Unfit[]): string[] {
  const reasons = [...new Set(unfit.map(({ why }) => why))]
  return reasons.map((why) => {
    const handles = unfit.flatMap((one) => (one.why === why ? [one.handle ?? 'a stored file'] : []))
    return `Not shown to the model: ${[...new Set(handles)].join(', ')}: ${why}.`
  })
}

function lossDrafts({ lost, unmade }: ComposedRequest): EventDraft[] {
  const gone = lost.map(({ resource, why }): EventDraft => {
    return { type: 'resource_retired', data: { resource_id: resource, why } }
  })
  const payloads = lost.filter(({ why }) => why !== 'no_variant')
  const told = payloads.map(({ handle, why }) => {
    if (why === 'holds_key') {
      return notice(why, `${handle} is not sent to the model: it holds a key that Hawser uses.`)
    }
    const state = why === 'payload_damaged' ? 'damaged' : 'missing'
    return notice(why, `The payload of ${handle} is ${state}, so the model is not shown it.`)
  })
  return [...gone, ...told, ...unmade.map((text) => notice('resource_not_shown', text))]
}

/** The largest alone, and then all that are left. */
function tooMuch({ projected }: ComposedRequest, overflows: number): ComposedRequest['projected'] {
  if (overflows > 0) return overflows > 1 ? [] : projected
  return projected.toSorted((a, b) => b.bytes - a.bytes).slice(0, 1)
}

/** Told from the catalogue, before anyone is asked. */
function overLimit(
  { surface }: TurnParts['model'],
  { body }: ComposedRequest,
): FailedCall | undefined {
  const limit = surface.params.limits['request_bytes']
  if (limit === undefined || body.length <= limit) return undefined
  const text = `The request has ${body.length} bytes, and this model takes at most ${limit}.`
  const { error } = failed('context_overflow', text, { limit, actual: body.length })
  return { ok: false, error, shown: false }
}

function retryNotice({ kind, message }: HawserError): EventDraft {
  return notice('retry', `Trying again after ${kind}: ${message}`)
}

function notice(code: string, text: string): EventDraft {
  return { type: 'notice', data: { code, text } }
}

function interrupted(): Result<never> {
  return failed('interrupted', 'The Turn was interrupted.')
}
