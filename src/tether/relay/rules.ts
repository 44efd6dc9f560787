import type { Clock } from '../../host/clock.ts'
import type { Post } from '../../host/net/http-post.ts'
import type { EventData } from '../../model/events/event.ts'
import type { ModelFacts } from '../../model/model-facts.ts'

/** Tokens of one call. */
export type Usage = EventData<'provider_usage'>['usage']

/** What the relay has to know about a provider. */
export interface RelayedAccess {
  readonly provider: string
  /** Without a trailing slash. Never shown to a guest. */
  readonly baseUrl: string
  readonly key: string | undefined
  /** Every key of the server. None of them reaches a guest, whatever a provider answers. */
  readonly secrets: readonly string[]
  /** The only path, relative to the base URL. */
  readonly path: string
  /** All headers of a request, the key included. Nothing of the guest's own headers is sent. */
  readonly headers: Readonly<Record<string, string>>
  /** The only top-level fields of a request. */
  readonly fields: readonly string[]
  readonly usageReader: () => UsageSource
  readonly factsOf: (model: string) => ModelFacts | undefined
  /** In US dollars; `undefined` if a required price is unknown. */
  readonly costOf: (usage: Usage, prices: ModelFacts['prices']) => number | undefined
  /** `httpPost` by default. */
  readonly post?: Post | undefined
}

/** Reads the usage that a provider reports, from the JSON values of its answer. */
export interface UsageSource {
  take(value: unknown): void
  readonly lastReport: { readonly usage: Usage; readonly final: boolean } | undefined
}

/** What one instance may do. */
export interface RelayRules {
  readonly access: RelayedAccess
  /** Exact names. */
  readonly models: readonly string[]
  /** In US dollars. Calls that run when it is reached are completed. */
  readonly ceilingUsd?: number | undefined
  /** What was spent before. */
  readonly spentBefore: Spend
  /** Called after each call that may have cost something, before the guest sees its end. */
  readonly onSpend: (total: Spend) => void
  /** Called when calls begin and end, with what those that run may cost: they are not counted if this process is killed. */
  readonly onRunning?: (running: UnendedCalls) => void
  readonly clock: Clock
  /** One line per call, fewer if many are refused. Never contains a body or a key. */
  readonly log: (line: string) => void
}

/** What an instance has spent, by what its provider reported. */
export interface Spend {
  readonly calls: number
  /** In US dollars, estimates included. */
  readonly usd: number
  /** The part of `usd` for calls that ended before the provider reported their usage. */
  readonly estimatedUsd: number
  /** Calls with an unknown price. They are not in `usd`. */
  readonly unpricedCalls: number
}

/** An estimate for calls that run. */
export interface UnendedCalls extends Pick<Spend, 'calls' | 'usd' | 'unpricedCalls'> {}

export const NO_SPEND: Spend = { calls: 0, usd: 0, estimatedUsd: 0, unpricedCalls: 0 }
