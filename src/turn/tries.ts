import { wait } from '../host/wait.ts'
import { resourceLabel } from '../history/results/notice-words.ts'
import { SessionResources } from '../history/session-resources.ts'
import type { ProviderCause } from '../model/error-cause.ts'
import { causeOf, failed, ok, type HawserError, type Result } from '../model/errors.ts'
import type { EventDraft } from '../model/events/event.ts'
import { notice } from '../model/events/notice.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import type { ComposedRequest } from '../request/compose-request.ts'
import type { FailedCall } from './parts/failed-call.ts'
import { refusedResources } from './resources/refused-resources.ts'
import { retryIn } from './retry.ts'
import type { TurnParts } from './parts/turn-parts.ts'

/** How to retry a failed call. */
export interface NextTry {
  /** Some content is omitted from now on, so the request must be composed again. */
  readonly mustCompose: boolean
  /** To record with the next try. */
  readonly drafts: readonly EventDraft[]
}

/**
 * Decides after each failed try of one call what to do next: retry without the Resources that were refused or too
 * large, over another transport, or unchanged after a wait.
 */
export class Tries {
  readonly #parts: TurnParts
  #failed = 0
  #refusals = 0
  #overflows = 0
  #invalid = 0
  #otherWays = MOST_WAYS

  constructor(parts: TurnParts) {
    this.#parts = parts
  }

  /** `undefined` if no retry may help: the call then fails with this error. Waits as long as necessary. */
  async next(error: HawserError, request: ComposedRequest): Promise<Result<NextTry> | undefined> {
    const attempt = this.#failed
    this.#failed += 1
    const cause = providerCause(error)
    const refused = this.#refusals === 0 ? refusedResources(cause?.refusedMedia, request) : []
    if (refused.length > 0) {
      this.#refusals += 1
      return changedBy(await this.#quarantine(refused, error))
    }
    const leftOut = error.kind === 'context_overflow' ? tooMuch(request, this.#overflows) : []
    if (leftOut.length > 0) {
      this.#overflows += 1
      return changedBy(await this.#leaveOut(leftOut))
    }
    const { retries } = this.#parts.model.retry
    const retry = { attempt: attempt + 1, of: retries }
    const count = `retry ${retry.attempt} of ${retry.of}`
    const again = { mustCompose: false, drafts: [retryNotice(error, count)] }
    if (cause?.again === true && this.#otherWays > 0) {
      this.#otherWays -= 1
      return ok({ mustCompose: false, drafts: [retryNotice(error, 'another connection')] })
    }
    const ms = retryIn(error, { attempt, invalid: this.#invalid }, this.#parts.model.retry)
    if (ms === undefined) return undefined
    if (error.kind === 'invalid_response') this.#invalid += 1
    const waited = await this.#wait(ms, error, retry)
    return waited.ok ? ok(again) : waited
  }

  async #quarantine(
    refused: ReturnType<typeof refusedResources>,
    error: HawserError,
  ): Promise<Result<void>> {
    const { message } = error
    const { status, code } = providerCause(error) ?? {}
    const provider_error = {
      message,
      ...definedFields({ status, code }),
    }
    const { log, model } = this.#parts
    const { dialect } = model.provider
    const gone = refused.map((resource_id): EventDraft => {
      return { type: 'resource_quarantined', data: { resource_id, dialect, provider_error } }
    })
    const known = new SessionResources(log.events())
    const names = refused.map((id) => resourceLabel(id, (one) => known.byId(one)?.descriptor))
    const text = `Refused by the model's provider and not shown to it again: ${names.join(', ')}. ${message}`
    return log.commit([...gone, notice('resource_quarantined', text)])
  }

  /** The request may fit without these Resources. The Turn continues, and they are not carried into the next one. */
  async #leaveOut(projected: ComposedRequest['projections']): Promise<Result<void>> {
    const { log } = this.#parts
    const known = new SessionResources(log.events())
    const ids = [...new Set(projected.map(({ resource_id }) => resource_id))]
    const gone = ids.map((resource_id): EventDraft => {
      return { type: 'resource_retired', data: { resource_id, why: 'too_large' } }
    })
    const handles = ids.map((id) => known.byId(id)?.descriptor.handle ?? id)
    const text = `Not shown to the model, because the request exceeds its limit: ${handles.join(', ')}.`
    return log.commit([...gone, notice('resource_not_shown', text)])
  }

  async #wait(
    ms: number,
    { kind }: HawserError,
    { attempt, of }: { readonly attempt: number; readonly of: number },
  ): Promise<Result<void>> {
    const { log, person } = this.#parts
    const seconds = Number((ms / 1000).toFixed(1))
    const text = `${kind.replaceAll('_', ' ')}: retry ${attempt} of ${of} in ${seconds} s`
    const retry = { attempt, of, delay_ms: Math.max(0, Math.round(ms)), kind }
    log.publish({ type: 'status', data: { text, retry } })
    await wait(log.clock, ms, person.signal)
    if (person.signal.aborted) return failed('interrupted', 'The Turn was interrupted.')
    return ok(undefined)
  }
}

function providerCause(error: HawserError): ProviderCause | undefined {
  const cause = causeOf(error)
  return cause?.type === 'provider' ? cause : undefined
}

/** Limits how often a call switches its transport, in case a provider keeps offering another one. */
const MOST_WAYS = 2

function changedBy(recorded: Result<void>): Result<NextTry> {
  return recorded.ok ? ok({ mustCompose: true, drafts: [] }) : recorded
}

/** The largest one first, then all that are left. */
function tooMuch(
  { projections }: ComposedRequest,
  overflows: number,
): ComposedRequest['projections'] {
  if (overflows > 0) return overflows > 1 ? [] : projections
  return projections.toSorted((a, b) => b.bytes - a.bytes).slice(0, 1)
}

/** Checked against the catalogue before anything is sent. */
export function overLimit(
  { surface }: TurnParts['model'],
  { body }: ComposedRequest,
): FailedCall | undefined {
  const limit = surface.params.limits['request_bytes']
  if (limit === undefined || body.length <= limit) return undefined
  const text = `The request has ${body.length} bytes; the limit of this model is ${limit}.`
  const { error } = failed('context_overflow', text, { limit, actual: body.length })
  return { ok: false, error, wasShown: false, excess: body.length - limit }
}

function retryNotice({ kind, message }: HawserError, count: string): EventDraft {
  return notice('retry', `Trying again after ${kind} (${count}): ${message}`)
}
