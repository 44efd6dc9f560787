import type { Mark } from '../model/segment.ts'

/** Positions in the segments of a request, as numbers of segments before them. */
export interface Places {
  /** The end of the surface, with which every request of the Session starts. */
  readonly surface: number
  /**
   * Before the first segment that is retired with its Turn, or else before the latest one that is retired later; absent
   * if there is none.
   */
  readonly transient: number | undefined
  /** The end of the prefix shared with the last request of an earlier call. */
  readonly sharedEnd: number
  readonly end: number
}

/**
 * The positions at which a provider is asked to cache, at most four: the end of the permanent part, of the part that
 * survives this Turn, of the part that the previous request cached, and of this request, with which the next one starts.
 * Pure.
 */
export function cacheMarks({ surface, transient = surface, sharedEnd, end }: Places): Mark[] {
  const places = [surface, Math.max(transient, surface), Math.max(sharedEnd, surface), end]
  const once = [...new Set(places)].filter((after) => after > 0 && after <= end)
  return once.toSorted((a, b) => a - b).map((after) => ({ after }))
}
