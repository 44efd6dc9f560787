import { asResult, type Folder } from '../../host/files/files.ts'
import { failed, ok, type Failed, type Result } from '../../model/errors.ts'
import type { Frame } from '../../model/tether/frame.ts'
import { framesDamaged } from './frame-damage.ts'
import { frameIn, type FrameEntry } from './frame-entry.ts'
import type { FileEnd, FilePosition, FrameFile, VisitLine } from './frame-file.ts'
import type { FrameLine } from './frame-line.ts'
import type { FrameMemory } from './frame-memory.ts'
import { matches, type FrameFilter } from './frame-query.ts'

/** What the writer of a frame log shares with its readers. All of it is durable, except deltas in memory. */
export interface FrameShelf {
  readonly folder: Folder
  /** Oldest first; the last one is being written. Never empty, unless the log is damaged. */
  files: readonly FrameFile[]
  readonly memory: FrameMemory
  /** The highest number that anyone may have seen. */
  newest: number
  /** The newest file cannot be read further than `newest`. */
  readonly damage: Failed | undefined
}

/** Frames that were found, and the last number that was examined. */
export interface FoundFrames {
  readonly frames: readonly Frame[]
  readonly examined: number
  /** There is nothing more to examine now. */
  readonly complete: boolean
  /** Deltas up to this number were forgotten and not examined. */
  readonly forgottenDelta: number
}

export function firstAvailable({ files, newest }: FrameShelf): number {
  return files[0]?.firstSeq ?? newest + 1
}

/** The error for a cursor whose frames were deleted. */
export function cursorBefore(shelf: FrameShelf, after: number): Failed | undefined {
  const first = firstAvailable(shelf)
  if (after >= first - 1) return undefined
  return failed(
    'cursor_expired',
    `Frames before ${first} were deleted.`,
    { cursor: after, first_available_seq: first },
    [{ action: `Continue with after_seq ${first - 1}.` }],
  )
}

/**
 * Finds up to `limit` frames above `after`. Reads at most `budget` bytes from disk and then stops early; `examined` shows how
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
  let examined = after
  let rest = budget
  let forgottenDelta = 0
  const partly = () => ok({ frames, examined, complete: false, forgottenDelta })
  const take = (entry: FrameEntry) => {
    examined = entry.seq
    const frame = matches(entry, filter) ? frameIn(entry) : undefined
    if (frame !== undefined) frames.push(frame)
    return frames.length < limit
  }
  // Memory may forget frames while the disk is read.
  while (examined < shelf.memory.after && frames.length < limit && rest > 0) {
    const expired = cursorBefore(shelf, examined)
    if (expired !== undefined) return frames.length > 0 ? partly() : expired
    const upTo = shelf.memory.after
    forgottenDelta = shelf.memory.forgottenDelta
    const read = await readUpTo(shelf, examined, upTo, rest, take)
    if (!read.ok) return frames.length > 0 ? partly() : (cursorBefore(shelf, examined) ?? read)
    rest -= read.value.bytes
    if (read.value.complete) examined = upTo
  }
  if (frames.length === limit || examined < shelf.memory.after) return partly()
  forgottenDelta = shelf.memory.forgottenDelta
  for (const entry of shelf.memory.since(examined)) if (!take(entry)) return partly()
  if (frames.length === 0 && shelf.damage !== undefined) return shelf.damage
  examined = Math.max(examined, shelf.newest)
  return ok({ frames, examined, complete: true, forgottenDelta })
}

/** Visits stored frames with numbers above `after`, up to `upTo`. */
async function readUpTo(
  { folder, files }: FrameShelf,
  after: number,
  upTo: number,
  budget: number,
  take: (entry: FrameEntry) => boolean,
): Promise<Result<{ readonly bytes: number; readonly complete: boolean }>> {
  let bytes = 0
  for (const file of files.slice(indexOf(files, after + 1))) {
    if (file.firstSeq > upTo) break
    const from = file.positionBefore(after)
    let isEnough = false
    const end = await readFile(folder, file, from, ({ content }, next) => {
      if (content.kind !== 'frame' || content.entry.seq <= after) return undefined
      if (content.entry.seq > upTo) return false
      // Always examines a frame, so that the next page gets further.
      isEnough = !take(content.entry) || bytes + next.offset - from.offset >= budget
      return !isEnough
    })
    if (!end.ok) return end
    bytes += end.value.position.offset - from.offset
    if (isEnough) return ok({ bytes, complete: false })
  }
  return ok({ bytes, complete: true })
}

/** Frames that were found, and the lowest number that was examined. */
export interface FoundBackwards {
  readonly frames: readonly Frame[]
  readonly examined: number
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
  let examined = before
  const partly = () => ok({ frames, examined, complete: false })
  const take = (entry: FrameEntry) => {
    examined = entry.seq
    const frame = matches(entry, filter) ? frameIn(entry) : undefined
    if (frame !== undefined) frames.unshift(frame)
    return frames.length < limit
  }
  // All of memory is examined now: it may forget frames while the disk is read.
  const below = Math.min(before, shelf.memory.after + 1)
  for (const entry of shelf.memory.backFrom(before)) if (!take(entry)) return partly()
  let rest = budget
  for (const file of shelf.files.slice(0, indexOf(shelf.files, below - 1) + 1).toReversed()) {
    const blocks = await blocksOf(shelf.folder, file)
    if (!blocks.ok && !shelf.files.includes(file)) break
    if (!blocks.ok) return frames.length > 0 ? partly() : blocks
    for (const block of blocks.value) {
      if (block.from.seq >= below - 1) continue
      if (rest <= 0) return partly()
      const entries = await entriesIn(shelf.folder, file, block)
      if (!entries.ok) return frames.length > 0 ? partly() : entries
      rest -= block.until - block.from.offset
      for (const entry of entries.value.toReversed())
        if (entry.seq < below && !take(entry)) return partly()
    }
  }
  return ok({ frames, examined, complete: true })
}

interface FileBlock {
  readonly from: FilePosition
  readonly until: number
}

/** The parts of a file between known positions, last first. Reads the part that was never read before. */
async function blocksOf(folder: Folder, file: FrameFile): Promise<Result<readonly FileBlock[]>> {
  const [last] = file.positions
  if (last !== undefined) {
    const read = await readFile(folder, file, last, () => {})
    if (!read.ok) return read
  }
  let until = file.size
  return ok(
    file.positions.map((from) => {
      const block = { from, until }
      until = from.offset
      return block
    }),
  )
}

async function entriesIn(
  folder: Folder,
  file: FrameFile,
  { from, until }: FileBlock,
): Promise<Result<readonly FrameEntry[]>> {
  const entries: FrameEntry[] = []
  const visit = ({ content }: FrameLine) => {
    if (content.kind === 'frame') entries.push(content.entry)
  }
  const read = await readFile(folder, file, from, visit, until)
  return read.ok ? ok(entries) : read
}

async function readFile(
  folder: Folder,
  file: FrameFile,
  from: FilePosition,
  visit: VisitLine,
  until?: number,
): Promise<Result<FileEnd>> {
  return asResult('read the frame log', async () => {
    const end = await file.read(folder, from, visit, until)
    if (end.fault === undefined) return ok(end)
    return framesDamaged(file.name, end.position.offset, end.fault)
  })
}

/** The index of the file that contains a number, or the first. */
function indexOf(files: readonly FrameFile[], seq: number): number {
  return Math.max(
    0,
    files.findLastIndex(({ firstSeq }) => firstSeq <= seq),
  )
}
