import type { Segment } from '../model/segment.ts'

/** How much of an earlier request a later one starts with. */
export interface SharedPrefix {
  /** Bytes of the common leading segments, with their brackets. */
  readonly bytes: number
  readonly segments: number
  /** The later request starts with all of the earlier one. */
  readonly whole: boolean
}

/** Compares whole segments, because a provider's cache ends between them, never inside one. */
export function sharedPrefix(before: readonly Segment[], after: readonly Segment[]): SharedPrefix {
  let bytes = 0
  let segments = 0
  for (const segment of before) {
    const other = after[segments]
    if (other === undefined || !same(other, segment)) break
    bytes += segment.bracket.length + segment.length
    segments += 1
  }
  return { bytes, segments, whole: segments === before.length }
}

/** In the same message, with the same role, and of the same bytes. */
function same(one: Segment, other: Segment): boolean {
  if (one === other) return true
  return (
    one.length === other.length &&
    one.bracket.equals(other.bracket) &&
    one.bytes.equals(other.bytes)
  )
}

/** Bytes of the segments before the one at `index`, with their brackets. */
export function bytesBefore(segments: readonly Segment[], index: number): number {
  return segments
    .slice(0, index)
    .reduce((sum, { bracket, length }) => sum + bracket.length + length, 0)
}
