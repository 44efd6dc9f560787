import { sumOf, type VisibleBytes } from '../history/visible-bytes.ts'
import { LIMITS } from '../model/limits.ts'

/**
 * The bytes to retire so that the rest fits into a request: first those that a window keeps, then those of unanswered Turns,
 * the oldest first. Bytes of the current Turn are never retired. Pure.
 */
export function overBudget(visible: readonly VisibleBytes[]): readonly VisibleBytes[] {
  const over: VisibleBytes[] = []
  let bytes = sumOf(visible)
  for (const place of ['windowed', 'carried'] as const) {
    for (const one of visible) {
      if (bytes <= LIMITS.request_resource_bytes) return over
      if (one.place !== place) continue
      over.push(one)
      bytes -= one.bytes
    }
  }
  return over
}
