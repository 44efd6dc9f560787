import type { Mark } from '../model/segment.ts'

/** What is known of the segments of a request, by how many stand before a place. */
export interface Places {
  /** All of the surface: what every request of the Session begins with. */
  readonly surface: number
  /** Before the first segment that goes with its Turn, or else the latest that will go one day; absent when none will. */
  readonly transient: number | undefined
  /** What it has in common with the last request of an earlier call. */
  readonly shared: number
  readonly end: number
}

/**
 * Where a provider is asked to cache, at most four places: what survives everything, what survives this Turn, what was cached
 * by the request before, and what the next one will begin with. Pure.
 */
export function cacheMarks({ surface, transient = surface, shared, end }: Places): Mark[] {
  const places = [surface, Math.max(transient, surface), Math.max(shared, surface), end]
  const once = [...new Set(places)].filter((after) => after > 0 && after <= end)
  return once.toSorted((a, b) => a - b).map((after) => ({ after }))
}
