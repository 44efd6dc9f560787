import type { EventData } from '../../model/events/event.ts'

/** Why less was cached than possible, as far as the Log shows. */
export const CACHE_FINDINGS = [
  /** The prefix broke, and no Event explains it. */
  'bug',
  /** The transport has no cache. */
  'no_cache',
  /** The shared prefix is shorter than the minimum that is cached. */
  'too_short',
  /** The cache key differs from that of the previous request. */
  'key_changed',
  /** The previous call was so long ago that the cache may have expired. */
  'cold',
  /** Too many requests with the same key: the provider spreads them over machines. */
  'crowded',
  /** The Log shows no reason: the provider did not use its cache. */
  'unexplained',
] as const

export type CacheFinding = (typeof CACHE_FINDINGS)[number]

/** A request and its usage. */
export interface JudgedRequest {
  readonly transport: string
  readonly prefix_break?: EventData<'provider_request'>['prefix_break']
  readonly usage?: { readonly input: number; readonly cached_read: number }
  /** Since the end of the last answered call; absent if there is none. */
  readonly idle_ms?: number
}

export interface Circumstances {
  /** The share of the request, from 0 to 1, that it has in common with the last answered request. */
  readonly knownShare: number
  readonly sameKey: boolean
  /** Requests with the same key in the last minute, including this one. */
  readonly lately: number
  /** The request contains bytes that are not text, whose token count does not follow their size. */
  readonly projects: boolean
}

/** Compares the shared prefix of a request with what was cached. `undefined` if there is nothing to explain. Pure. */
export function cacheFinding(
  { transport, prefix_break, usage, idle_ms }: JudgedRequest,
  { knownShare, sameKey, lately, projects }: Circumstances,
): CacheFinding | undefined {
  if (prefix_break?.cause === 'unknown') return 'bug'
  if (usage === undefined || idle_ms === undefined) return undefined
  const expected = knownShare * usage.input
  const enough = usage.cached_read >= expected * (projects ? ENOUGH_WITH_PICTURES : ENOUGH)
  if (enough) return undefined
  if (transport === 'in-process') return 'no_cache'
  if (expected < SHORTEST_CACHED) return 'too_short'
  if (!sameKey) return 'key_changed'
  if (idle_ms >= COLD_AFTER_MS) return 'cold'
  return lately > MOST_A_MINUTE ? 'crowded' : 'unexplained'
}

/**
 * The least share of the common prefix that should be cached. Tokens are not spread evenly over bytes, and the last few
 * are never cached.
 */
const ENOUGH = 0.8
const ENOUGH_WITH_PICTURES = 0.5

/** In tokens; the lowest minimum that the vendors document. */
const SHORTEST_CACHED = 1024

/** How long the vendors promise to keep a prefix. */
const COLD_AFTER_MS = 5 * 60_000

/** Requests per minute with one key above which a vendor spreads them over machines. */
const MOST_A_MINUTE = 15
