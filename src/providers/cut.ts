import type { Cut } from './provider.ts'

/** The `cut` of an answer that ended for `reason`, or that lost calls although its stop reason is a regular one. Pure. */
export function cutOf(
  reason: Cut['reason'] | undefined,
  lost_calls: number,
): { readonly cut?: Cut } {
  if (reason !== undefined) return { cut: { reason, lost_calls } }
  return lost_calls === 0 ? {} : { cut: { reason: 'lost_call', lost_calls } }
}
