import type { EventData } from '../../model/events/event.ts'

/** Why less was cached than could have been, as far as a Log tells. */
export const CACHE_FINDINGS = [
  /** The prefix broke, and no Event says why. */
  'bug',
  /** Nothing is cached there. */
  'no_cache',
  /** What was shared is shorter than anything that is cached. */
  'too_short',
  /** It was sent with another cache key than the request before. */
  'key_changed',
  /** The call before is so long ago that it may be forgotten. */
  'cold',
  /** So many requests came with the same key that some are answered elsewhere. */
  'crowded',
  /** The Log names no reason: it lies with the provider. */
  'unexplained',
] as const

export type CacheFinding = (typeof CACHE_FINDINGS)[number]

/** What is known of a request and of how it was answered. */
export interface JudgedRequest {
  readonly transport: string
  readonly prefix_break?: EventData<'provider_request'>['prefix_break']
  readonly usage?: { readonly input: number; readonly cached_read: number }
  /** Since the end of the last call that was answered; absent where none was. */
  readonly idle_ms?: number
}

/** What stood around it. */
export interface Circumstances {
  /** How much of it, from 0 to 1, the last request that was answered began with too. */
  readonly known: number
  readonly sameKey: boolean
  /** Requests of the last minute with the same key, with this one. */
  readonly lately: number
  /** Bytes that are no text are in it, which have other numbers of tokens. */
  readonly projects: boolean
}

/** Compares what a request shared with what was cached of it. `undefined` when nothing is to be explained. Pure. */
export function cacheFinding(
  { transport, prefix_break, usage, idle_ms }: JudgedRequest,
  { known, sameKey, lately, projects }: Circumstances,
): CacheFinding | undefined {
  if (prefix_break?.cause === 'unknown') return 'bug'
  if (usage === undefined || idle_ms === undefined) return undefined
  const expected = known * usage.input
  const enough = usage.cached_read >= expected * (projects ? ENOUGH_WITH_PICTURES : ENOUGH)
  if (enough) return undefined
  if (transport === 'in-process') return 'no_cache'
  if (expected < SHORTEST_CACHED) return 'too_short'
  if (!sameKey) return 'key_changed'
  if (idle_ms >= COLD_AFTER_MS) return 'cold'
  return lately > MOST_A_MINUTE ? 'crowded' : 'unexplained'
}

/** So much of what was shared should be cached: tokens are not spread evenly over bytes, and the last few are never cached. */
const ENOUGH = 0.8
const ENOUGH_WITH_PICTURES = 0.5

/** Tokens, the least of what the vendors name. */
const SHORTEST_CACHED = 1024

/** How long the vendors promise to remember a prefix. */
const COLD_AFTER_MS = 5 * 60_000

/** Requests a minute with one key, beyond which a vendor spreads them over machines. */
const MOST_A_MINUTE = 15
