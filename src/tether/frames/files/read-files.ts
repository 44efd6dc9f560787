import { asResult, type Folder } from '../../../host/files/files.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { FrameEntry } from '../frame-entry.ts'
import type { FrameReading, VisitFrame } from '../frame-store.ts'
import { framesDamaged } from './frame-damage.ts'
import type { FileEnd, FilePosition, FrameFile, VisitLine } from './frame-file.ts'
import type { FrameLine } from './frame-line.ts'

/** Visits stored frames with numbers above `after`, up to `upTo`. */
export async function framesAbove(
  folder: Folder,
  files: readonly FrameFile[],
  { after, upTo, budget }: { after: number; upTo: number; budget: number },
  visit: VisitFrame,
): Promise<Result<FrameReading>> {
  let bytes = 0
  for (const file of files.slice(indexOf(files, after + 1))) {
    if (file.firstSeq > upTo) break
    const from = file.positionBefore(after)
    let isEnough = false
    const end = await readFile(folder, file, from, ({ content }, next) => {
      if (content.kind !== 'frame' || content.entry.seq <= after) return undefined
      if (content.entry.seq > upTo) return false
      // Always visits a frame, so that the next reading gets further.
      isEnough = !visit(content.entry) || bytes + next.offset - from.offset >= budget
      return !isEnough
    })
    if (!end.ok) return end
    bytes += end.value.position.offset - from.offset
    if (isEnough) return ok({ bytes, complete: false })
  }
  return ok({ bytes, complete: true })
}

interface BackwardsOptions {
  readonly before: number
  readonly budget: number
  /** Whether a file is still part of the log. */
  readonly isKept: (file: FrameFile) => boolean
}

/** Visits stored frames with numbers below `before`, newest first. */
export async function framesBelow(
  folder: Folder,
  files: readonly FrameFile[],
  { before, budget, isKept }: BackwardsOptions,
  visit: VisitFrame,
): Promise<Result<FrameReading>> {
  let bytes = 0
  const partly = () => ok({ bytes, complete: false })
  for (const file of files.slice(0, indexOf(files, before - 1) + 1).toReversed()) {
    const blocks = await blocksOf(folder, file)
    if (!blocks.ok && !isKept(file)) break
    if (!blocks.ok) return blocks
    for (const block of blocks.value) {
      if (block.from.seq >= before - 1) continue
      if (bytes >= budget) return partly()
      const entries = await entriesIn(folder, file, block)
      if (!entries.ok) return entries
      bytes += block.until - block.from.offset
      for (const entry of entries.value.toReversed())
        if (entry.seq < before && !visit(entry)) return partly()
    }
  }
  return ok({ bytes, complete: true })
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
