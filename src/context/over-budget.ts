import { sumOf, type VisibleBytes } from '../history/visible-bytes.ts'
import { LIMITS } from '../model/limits.ts'

/**
 * What has to go so that the rest fits a request: what a window keeps, and then what nobody answered yet, the oldest first. What
 * this Turn brings stays. Pure.
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
