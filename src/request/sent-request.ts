import {
  APART,
  onlyGrew,
  predictBreak,
  sameWords,
  type Break,
  type RequestInputs,
} from './predict.ts'
import { bytesBefore, sharedPrefix } from '../prompt/prefix.ts'
import type { Segment } from '../model/segment.ts'
import type { Surface } from '../model/surface.ts'
import type { Dialect } from '../providers/provider.ts'

/** A sent request, for comparison with the next one. Excludes the body, which may be large. */
export interface SentRequest {
  readonly sha256: string
  /** Bytes of its body. */
  readonly length: number
  /** Its segments, in the list they were collected in. */
  readonly run: SegmentRun
  /** Its inputs. */
  readonly inputs: RequestInputs
  /**
   * Set if all its items stay as they are, and no result was missing: the requests of later Turns start with its segments,
   * unless an Event changes an item.
   */
  readonly stays?: StayingFiles | undefined
  /** Only the segments of its surface are known, because a checkpoint replaced its Events. */
  readonly surfaceOnly?: true
}

/** The files in a request that later requests contain too. */
export interface StayingFiles {
  /** What they count towards the limit of bytes of a request. */
  readonly limitedBytes: number
}

/** Drops everything that is needed only for sending. */
export function asSent({ sha256, length, run, inputs, stays }: SentRequest): SentRequest {
  return { sha256, length, run, inputs, stays }
}

interface SurfaceParts {
  readonly provider: Dialect
  readonly providerName: string | undefined
  readonly surface: Surface
  readonly words: string | undefined
}

/** A request that was sent before the checkpoint in force, for comparison with the next one. */
export function surfaceRequest(
  { provider, providerName, surface, words }: SurfaceParts,
  { sha256, length }: Pick<SentRequest, 'sha256' | 'length'>,
): SentRequest {
  const list = provider.encode([], surface)
  const { dialect } = provider
  const run = { list, count: list.length, bytes: bytesBefore(list, list.length) }
  const composed = { dialect, provider: providerName, surface, surfaceSegments: list, words }
  return {
    sha256,
    length,
    run,
    inputs: { ...composed, events: [], turn: undefined },
    surfaceOnly: true,
  }
}

/** The first `count` segments of a list that may have grown since, but was not otherwise changed. */
export interface SegmentRun {
  readonly list: readonly Segment[]
  readonly count: number
  readonly bytes: number
}

/** The leading segments of `run` that an earlier request shares. */
export function sharedRun(
  before: SentRequest | undefined,
  run: SegmentRun,
  inputs: RequestInputs,
): SegmentRun {
  if (before === undefined) return { list: run.list, count: 0, bytes: 0 }
  if (before.run.list === run.list) return before.run
  const { segments, bytes } = sharedPrefix(knownSegments(before, inputs), run.list)
  return { list: run.list, count: segments, bytes }
}

/** The segments of an earlier request, as far as this version encodes them as they were sent. */
function knownSegments({ run, inputs }: SentRequest, next: RequestInputs): readonly Segment[] {
  return sameWords(inputs, next) ? segmentsOf(run) : inputs.surfaceSegments
}

export function segmentsOf({ list, count }: SegmentRun): Segment[] {
  return list.slice(0, count)
}

/** How much of the previous request a request starts with, and why not more. */
export interface PrefixComparison {
  /** All of the earlier request, if this one extends it; otherwise its bytes up to the break. */
  readonly shared_prefix_bytes: number
  readonly prefix_break?: { readonly at: number; readonly cause: Break['cause'] | 'unknown' }
}

/**
 * Compares bytes, and names the cause that Events predict. A break without a predicted cause is a bug and is recorded
 * as unknown.
 */
export function sharedWith(before: SentRequest | undefined, next: SentRequest): PrefixComparison {
  if (before === undefined) return { shared_prefix_bytes: 0 }
  // The usual case: no break is predicted, and the segments are the same list, extended.
  if (onlyGrew(before.inputs, next.inputs) && before.run.list === next.run.list) {
    return { shared_prefix_bytes: before.length }
  }
  const segments = segmentsOf(before.run)
  const predicted = predictBreak(before.inputs, segments, next.inputs)
  const apart = predicted !== undefined && APART.has(predicted.cause)
  const shared = sharedPrefix(knownSegments(before, next.inputs), segmentsOf(next.run))
  const bytes = apart ? 0 : shared.bytes
  const whole = shared.whole && before.surfaceOnly !== true
  if (whole && !apart && sameWords(before.inputs, next.inputs))
    return { shared_prefix_bytes: before.length }
  const cause = predicted?.at === bytes ? predicted.cause : 'unknown'
  return { shared_prefix_bytes: bytes, prefix_break: { at: bytes, cause } }
}
