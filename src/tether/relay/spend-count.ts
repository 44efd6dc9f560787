import type { ModelFacts } from '../../model/model-facts.ts'
import type { RelayRules, UnendedCalls, Spend, Usage } from './rules.ts'

/** What is known about a call when it ends. */
export interface EndedCall {
  readonly model: string
  readonly requestBytes: number
  readonly answerBytes: number
  /** How long it took. */
  readonly ms: number
  readonly lastReport: { readonly usage: Usage; readonly final: boolean } | undefined
}

export interface CallCost {
  /** `undefined` if a price is unknown. */
  readonly usd: number | undefined
  readonly isEstimate: boolean
}

/** What one instance has spent so far. */
export class SpendCount {
  readonly #rules: RelayRules
  #total: Spend
  /** What each call that runs may cost. */
  readonly #running = new Set<{ readonly usd: number | undefined }>()

  constructor(rules: RelayRules) {
    this.#rules = rules
    this.#total = rules.spentBefore
  }

  get total(): Spend {
    return this.#total
  }

  /** A call begins. The result must be called when it has ended, or is given to `add`. */
  begin({ model, requestBytes }: Pick<EndedCall, 'model' | 'requestBytes'>): BegunCall {
    const call = { model, requestBytes, answerBytes: 0, ms: LOST_CALL_MS, lastReport: undefined }
    const entry = this.#priceOf(call)
    this.#running.add(entry)
    this.#tellRunning()
    return () => {
      if (this.#running.delete(entry)) this.#tellRunning()
    }
  }

  /** With `begun`, this also ends it. */
  add(call: EndedCall, begun?: BegunCall): CallCost {
    const { usd, isEstimate } = this.#priceOf(call)
    const { onSpend } = this.#rules
    const { calls, estimatedUsd, unpricedCalls } = this.#total
    this.#total = {
      calls: calls + 1,
      usd: sum(this.#total.usd, usd),
      estimatedUsd: sum(estimatedUsd, isEstimate ? usd : 0),
      unpricedCalls: unpricedCalls + (usd === undefined ? 1 : 0),
    }
    onSpend(this.#total)
    begun?.()
    return { usd, isEstimate }
  }

  #priceOf(call: EndedCall): CallCost {
    const { access } = this.#rules
    const facts = access.factsOf(call.model)
    const isEstimate = call.lastReport?.final !== true
    const usage = isEstimate ? estimatedUsage(call, facts) : call.lastReport.usage
    return { usd: access.costOf(usage, facts?.prices), isEstimate }
  }

  #tellRunning(): void {
    const all = [...this.#running]
    const running: UnendedCalls = {
      calls: all.length,
      usd: all.reduce((total, { usd }) => sum(total, usd), 0),
      unpricedCalls: all.filter(({ usd }) => usd === undefined).length,
    }
    this.#rules.onRunning?.(running)
  }
}

type BegunCall = () => void

/** How long a call is taken to have run if its end was not seen. */
const LOST_CALL_MS = 60_000

/** Fewer bytes per token than in any text, and than in any stream of events. */
const BYTES_PER_TOKEN = 4
/** More than most models generate. */
const TOKENS_PER_SECOND = 250
/** No answer takes longer to generate. */
const LONGEST_ANSWER_MS = 10 * 60_000

/**
 * The usage of a call that ended before its provider reported it, such as a cancelled one: what was reported so far, and at least
 * as many tokens as the bytes that were exchanged can contain and, since a provider also generates what it does not send, as
 * the time allows, up to the limits of the model. Cancelling calls must not be a way around a spending limit, so it is rather too
 * much than too little. Pure.
 */
export function estimatedUsage(
  { requestBytes, answerBytes, ms, lastReport }: EndedCall,
  { window_tokens = Infinity, output_tokens = Infinity }: ModelFacts = {},
): Usage {
  const { usage } = lastReport ?? {}
  const generated = Math.ceil((Math.min(ms, LONGEST_ANSWER_MS) / 1000) * TOKENS_PER_SECOND)
  return {
    input: usage?.input ?? tokens(requestBytes, window_tokens),
    cached_read: usage?.cached_read ?? 0,
    cache_write: usage?.cache_write ?? 0,
    output: Math.max(
      usage?.output ?? 0,
      tokens(answerBytes, output_tokens),
      Math.min(generated, output_tokens),
    ),
    reasoning: usage?.reasoning ?? 0,
  }
}

function tokens(bytes: number, most: number): number {
  return Math.min(Math.ceil(bytes / BYTES_PER_TOKEN), most)
}

function sum(usd: number, more: number | undefined): number {
  return Number((usd + (more ?? 0)).toFixed(9))
}
