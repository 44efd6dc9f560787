import type { ResourceId } from './ids.ts'

/**
 * How long bytes stay in requests: `turn` and `carried` bytes are retired after a Turn, `window` bytes at a checkpoint.
 */
export type Lifetime = 'stable' | 'turn' | 'carried' | 'window'

/** A run of request bytes in cache order. Cache marks and the bytes that close the last message belong to no segment. */
export interface Segment {
  readonly role: SegmentRole
  /**
   * The bytes between the previous segment and this one: they open a message, or separate two blocks of one. They depend on the
   * segments before it and never on those after it, so a block that was sent keeps its message and its role.
   */
  readonly bracket: Buffer
  /** Built on each access if they contain a file, because they are large. */
  readonly bytes: Buffer
  /** The number of bytes, without the bracket. */
  readonly length: number
  /** Number of the Event it comes from; -1 for the surface. */
  readonly seq: number
  readonly lifetime: Lifetime
  /** The Resource whose bytes it contains. */
  readonly resource?: ResourceId
  /** It is all of its message, which later segments never join. */
  readonly whole?: true
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
 * The size in bytes from which a request body counts as large. Its buffer is reused and no second one is kept, because
 * the system allocates and reclaims large buffers slowly.
 */
export const LARGE_BODY = 8 * 1024 * 1024

/** A position up to which a provider is asked to cache: after this many segments. */
export interface Mark {
  readonly after: number
}
