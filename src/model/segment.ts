import type { ResourceId } from './ids.ts'

/** How long bytes stay in requests: `turn` and `carried` are retired by deletion after a Turn, `window` at a checkpoint. */
export type Lifetime = 'stable' | 'turn' | 'carried' | 'window'

/** A run of request bytes in cache order. Brackets between segments and cache marks are not part of any. */
export interface Segment {
  readonly role: SegmentRole
  /** Where they show a file they are large, and made anew whenever they are asked for. */
  readonly bytes: Buffer
  /** How many bytes it has. */
  readonly length: number
  /** Number of the Event it comes from; -1 for what comes from the surface. */
  readonly seq: number
  readonly lifetime: Lifetime
  /** The Resource whose bytes it holds. */
  readonly resource?: ResourceId
}

export type SegmentRole =
  | 'params'
  | 'tool'
  | 'system'
  | 'developer'
  | 'user'
  | 'assistant'
  | 'reasoning'
  | 'tool_call'
  | 'tool_result'

/**
 * Bytes from which a request body counts as large. Then its memory is used again and no second one is kept beside it: the
 * system gives new memory slowly, and takes it back late.
 */
export const LARGE_BODY = 8 * 1024 * 1024

/** A place in a request up to which a provider is asked to cache: after that many segments. */
export interface Mark {
  readonly after: number
}
