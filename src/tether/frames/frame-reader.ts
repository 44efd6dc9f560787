import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Frame } from '../../model/tether/frame.ts'
import { frameIn, type FrameEntry } from './frame-entry.ts'
import type { FrameMemory } from './frame-memory.ts'
import { matches, type FrameFilter } from './frame-query.ts'
import type { OpenFrames } from './frame-store.ts'

/** What the writer of a frame log shares with its readers. All of it is durable, except deltas in memory. */
export interface FrameShelf {
  readonly frames: OpenFrames
  readonly memory: FrameMemory
  /** The highest number that anyone may have seen. */
  newest: number
}

/** Frames that were found, and the last number that was examined. */
export interface FoundFrames {
  readonly frames: readonly Frame[]
  readonly examinedFrames: number
  /** There is nothing more to examine now. */
  readonly complete: boolean
  /** Deltas up to this number were forgotten and not examined. */
  readonly forgottenDelta: number
}

/** The error for a cursor whose frames were deleted. */
export function cursorBefore({ frames }: FrameShelf, after: number): Failed | undefined {
  const first = frames.firstAvailable
  if (after >= first - 1) return undefined
  return failed(
    'cursor_expired',
    `Frames before ${first} were deleted.`,
    { cursor: after, first_available_seq: first },
    [{ action: `Continue with after_seq ${first - 1}.` }],
  )
}

/**
 * Finds up to `limit` frames above `after`. Reads at most `budget` stored bytes and then stops early; `examinedFrames` shows how
 * far it got. If nothing was found and the rest cannot be read, the result is the reason.
 */
export async function framesAfter(
  shelf: FrameShelf,
  after: number,
  filter: FrameFilter,
  limit: number,
  budget: number,
): Promise<Result<FoundFrames>> {
  const frames: Frame[] = []
  let examinedFrames = after
  let rest = budget
  let forgottenDelta = 0
  const partly = () => ok({ frames, examinedFrames, complete: false, forgottenDelta })
  const take = (entry: FrameEntry) => {
    examinedFrames = entry.seq
    const frame = matches(entry, filter) ? frameIn(entry) : undefined
    if (frame !== undefined) frames.push(frame)
    return frames.length < limit
  }
  // Memory may forget frames while stored ones are read.
  while (examinedFrames < shelf.memory.after && frames.length < limit && rest > 0) {
    const expired = cursorBefore(shelf, examinedFrames)
    if (expired !== undefined) return frames.length > 0 ? partly() : expired
    const upTo = shelf.memory.after
    forgottenDelta = shelf.memory.forgottenDelta
    const read = await shelf.frames.readAfter(examinedFrames, upTo, rest, take)
    if (!read.ok)
      return frames.length > 0 ? partly() : (cursorBefore(shelf, examinedFrames) ?? read)
    rest -= read.value.bytes
    if (read.value.complete) examinedFrames = upTo
  }
  if (frames.length === limit || examinedFrames < shelf.memory.after) return partly()
  forgottenDelta = shelf.memory.forgottenDelta
  for (const entry of shelf.memory.since(examinedFrames)) if (!take(entry)) return partly()
  if (frames.length === 0 && shelf.frames.damage !== undefined) return shelf.frames.damage
  examinedFrames = Math.max(examinedFrames, shelf.newest)
  return ok({ frames, examinedFrames, complete: true, forgottenDelta })
}

/** Frames that were found, and the lowest number that was examined. */
export interface FoundBackwards {
  readonly frames: readonly Frame[]
  readonly examinedFrames: number
  /** There is nothing before. */
  readonly complete: boolean
}

/** Finds the last `limit` frames below `before`, in their order. Stops early like `framesAfter`. */
export async function framesBefore(
  shelf: FrameShelf,
  before: number,
  filter: FrameFilter,
  limit: number,
  budget: number,
): Promise<Result<FoundBackwards>> {
  const frames: Frame[] = []
  let examinedFrames = before
  const partly = () => ok({ frames, examinedFrames, complete: false })
  const take = (entry: FrameEntry) => {
    examinedFrames = entry.seq
    const frame = matches(entry, filter) ? frameIn(entry) : undefined
    if (frame !== undefined) frames.unshift(frame)
    return frames.length < limit
  }
  // All of memory is examined now: it may forget frames while stored ones are read.
  const below = Math.min(before, shelf.memory.after + 1)
  for (const entry of shelf.memory.backFrom(before)) if (!take(entry)) return partly()
  const read = await shelf.frames.readBefore(below, budget, take)
  if (!read.ok) return frames.length > 0 ? partly() : read
  return read.value.complete ? ok({ frames, examinedFrames, complete: true }) : partly()
}
