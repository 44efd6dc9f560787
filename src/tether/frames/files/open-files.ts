import type { Clock } from '../../../host/clock.ts'
import {
  ifPossible,
  ifThere,
  readSpan,
  replaceFile,
  type File,
  type Folder,
} from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import type { Failed } from '../../../model/errors.ts'
import { definedFields } from '../../../model/fields/defined-fields.ts'
import { framesDamaged } from './frame-damage.ts'
import { fileName, firstSeqOf, FrameFile, scanFrameFile, type FileEnd } from './frame-file.ts'
import { decodeFrameLine, type FileStart } from './frame-line.ts'
import { FRAME_BATCH_BYTES } from '../frame-settings.ts'
import type { FrameRepair, FrameRestore, OpenFramesOptions } from '../frame-store.ts'
import { keptFiles } from './retention.ts'
import { writeStart, type OpenFile } from './start-file.ts'

export interface OpenParts {
  readonly folder: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'temporary'>
}

/** What the files of a log contain. */
export interface FoundFiles {
  readonly files: readonly FrameFile[]
  /** Numbers up to this one may have been issued. */
  readonly reservedTo: number
  readonly openFile?: OpenFile
  readonly repair?: FrameRepair
  readonly damage?: Failed
}

const FIRST_SEQ = 1

/** Reads the newest file, or starts the first one. Only the holder of the lock calls this. */
export async function openFiles(parts: OpenParts, options: OpenFramesOptions): Promise<FoundFiles> {
  const names = await parts.folder.names()
  for (const name of names) if (name.startsWith('.tmp-')) await parts.folder.remove(name)
  const present = names.flatMap((name) => firstSeqOf(name) ?? []).toSorted((a, b) => a - b)
  const newest = present.at(-1)
  // A name may not be durable yet if the process that gave it was killed.
  await parts.folder.sync()
  return newest === undefined
    ? createFirst(parts, options)
    : readNewest(parts, options, newest, present)
}

async function createFirst(
  { folder, ids, clock }: OpenParts,
  { restore }: OpenFramesOptions,
): Promise<FoundFiles> {
  const messages = { waiting: [], ended: [] }
  const at = Math.floor(clock.now())
  const start = { firstSeq: FIRST_SEQ, reservedTo: 0, at }
  const openFile = await (await writeStart({ folder, ids, messages }, start, [])).name()
  restore.begin(FIRST_SEQ - 1)
  return { files: [openFile.file], reservedTo: 0, openFile }
}

async function readNewest(
  parts: OpenParts,
  options: OpenFramesOptions,
  firstSeq: number,
  present: readonly number[],
): Promise<FoundFiles> {
  const { folder } = parts
  const handle = await folder.open(fileName(firstSeq), 'append')
  try {
    const read = await readContent(handle, firstSeq, options.restore)
    const torn = await tornTail(handle, read)
    const { start, end, file } = read
    const reservedTo = Math.max(read.reservedTo, end.position.seq)
    file.grow(end.position.offset)
    const fault = end.fault ?? (read.begin === Infinity ? 'truncated' : undefined)
    if (start === undefined || (fault !== undefined && torn === undefined)) {
      await handle.close()
      const damage = framesDamaged(file.name, end.position.offset, fault ?? 'order')
      const files = start === undefined ? [] : [...listedFiles(start, present), file]
      return { files, reservedTo, damage }
    }
    const repaired = torn && (await cutTail(parts, handle, file, torn))
    // A killed process may have written lines without a sync. From now on they count.
    await handle.datasync()
    const files = await withoutExpired(parts, options, {
      before: listedFiles(start, present),
      newest: file,
      present,
    })
    const openFile = { handle, file, position: end.position, begin: read.begin }
    return { files, reservedTo, openFile, ...definedFields({ repair: repaired }) }
  } catch (error) {
    await ifPossible(handle.close())
    throw error
  }
}

interface ReadContent {
  readonly file: FrameFile
  readonly start: FileStart | undefined
  readonly reservedTo: number
  readonly end: FileEnd
  /** The end of the lines that the file was started with. */
  readonly begin: number
  readonly size: number
}

async function readContent(
  handle: File,
  firstSeq: number,
  restore: FrameRestore,
): Promise<ReadContent> {
  const { size } = await handle.stat()
  let start: FileStart | undefined
  let file = new FrameFile(firstSeq, 0, size)
  let reservedTo = 0
  let begin = Infinity
  const origin = { offset: 0, n: 0, seq: firstSeq - 1 }
  restore.begin(origin.seq)
  const end = await scanFrameFile(handle, origin, size, ({ n, content }, next) => {
    if (content.kind === 'start') {
      if (content.start.first_seq !== firstSeq) return false
      start = content.start
      file = new FrameFile(firstSeq, start.at, size)
      restore.ended(start.known)
      reservedTo = start.reserved
    } else if (content.kind === 'reserved') reservedTo = Math.max(reservedTo, content.reservedTo)
    else if (content.kind === 'carried') restore.message(content.entry)
    else restore.frame(content.entry)
    if (content.kind === 'frame') reservedTo = Math.max(reservedTo, content.reservedTo ?? 0)
    if (n === start?.carried) begin = next.offset
    file.mark(next)
    return undefined
  })
  return { file, start, reservedTo, end, begin, size }
}

interface TornFrames {
  readonly offset: number
  readonly bytes: Buffer
}

/**
 * A crash tears at most the last write, and a write starts only when the previous one is durable. So if an intact line after
 * the fault belongs to a later write, the fault is damage. The lines that a file is started with are never torn.
 */
async function tornTail(
  handle: File,
  { end, begin, size }: ReadContent,
): Promise<TornFrames | undefined> {
  const { offset, n } = end.position
  if (end.fault === undefined || end.fault === 'version' || offset < begin) return undefined
  if (size - offset > FRAME_BATCH_BYTES) return undefined
  const bytes = await readSpan(handle, offset, size - offset)
  for (let from = 0, at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, from)) {
    const decoded = decodeFrameLine(bytes.subarray(from, at))
    from = at + 1
    if ('fault' in decoded && decoded.fault !== 'version') continue
    if ('fault' in decoded || decoded.line.n - decoded.line.batch > n) return undefined
  }
  return { offset, bytes }
}

const MOST_TORN = 8
const TORN = /^torn-\d{16}-\d+$/

/** Keeps the bytes beside the log before they are cut off. */
async function cutTail(
  { folder, ids }: OpenParts,
  handle: File,
  { firstSeq }: FrameFile,
  { offset, bytes }: TornFrames,
): Promise<FrameRepair> {
  const kept_as = `torn-${fileName(firstSeq).replace('.ndjson', '')}-${offset}`
  await replaceFile(folder, kept_as, bytes, ids.temporary())
  await handle.truncate(offset)
  const older = (await folder.names()).filter((name) => TORN.test(name) && name !== kept_as)
  for (const name of older.toSorted().slice(0, Math.max(0, older.length - MOST_TORN + 1)))
    await ifPossible(ifThere(folder.remove(name)))
  return { cut_bytes: bytes.length, kept_as }
}

/** The files before the newest one. Those that are missing at the beginning were deleted; others are damage. */
function listedFiles({ files }: FileStart, present: readonly number[]): readonly FrameFile[] {
  const first = files.findIndex(({ first_seq }) => present.includes(first_seq))
  const rest = first === -1 ? [] : files.slice(first)
  return rest.map(({ first_seq, size, at }) => new FrameFile(first_seq, at, size))
}

interface ListedFiles {
  readonly before: readonly FrameFile[]
  readonly newest: FrameFile
  readonly present: readonly number[]
}

/** Removes files that are too old, and those that were to be removed before. */
async function withoutExpired(
  { folder, clock }: OpenParts,
  { retention }: OpenFramesOptions,
  { before, newest, present }: ListedFiles,
): Promise<readonly FrameFile[]> {
  const kept = [...keptFiles(before, newest.at, clock.now(), retention), newest]
  for (const seq of present) {
    if (kept.some(({ firstSeq }) => firstSeq === seq)) continue
    await ifPossible(ifThere(folder.remove(fileName(seq))))
  }
  return kept
}
