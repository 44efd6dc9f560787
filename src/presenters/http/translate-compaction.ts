import { definedFields } from '../../model/fields/defined-fields.ts'
import type { CompactionOutcome } from '../../session/live/locked-compaction.ts'

/** A compaction as the API shows it. */
export interface ApiCompaction {
  /** Nothing was written. */
  readonly dryRun: boolean
  /** There is one: a recorded one or, in a dry run, one that would be. */
  readonly compacted: boolean
  /** Why there is none. */
  readonly reason?: string
  readonly strategy?: string
  /** The Events that the summary replaces. */
  readonly range?: { readonly fromSeq: number; readonly toSeq: number }
  /** Estimated tokens of the next request. */
  readonly tokensBefore: number
  readonly tokensAfter?: number
  /** In a dry run: bytes of the next request with an empty message. */
  readonly requestBytes?: { readonly before: number; readonly after: number }
  /** Why the summary consists of excerpts, although the model should have written it. */
  readonly fallback?: string
}

export function apiCompaction(
  outcome: CompactionOutcome,
  { dryRun }: { readonly dryRun: boolean },
): ApiCompaction {
  if (!outcome.compactable) {
    const { reason, tokens_before: tokensBefore } = outcome
    return { dryRun, compacted: false, reason, tokensBefore }
  }
  const { data, fallback } = outcome
  const { strategy, range, tokens_before: tokensBefore, tokens_after: tokensAfter } = data
  return {
    dryRun,
    compacted: true,
    strategy,
    ...(range === undefined ? {} : { range: { fromSeq: range.from_seq, toSeq: range.to_seq } }),
    tokensBefore,
    tokensAfter,
    ...definedFields({ fallback }),
  }
}
