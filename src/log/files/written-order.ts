import {
  closing,
  ifPossible,
  readSpan,
  replaceFile,
  writeAll,
  type File,
} from '../../host/files/files.ts'
import { SessionId } from '../../model/ids.ts'
import type { HeadFiles } from './head-files.ts'

/**
 * One Session id per line, in the order in which Logs were written. It is in `heads`, where commands of a workspace cannot
 * write.
 */
const ORDER = 'order'

/** Only the end of a longer file is read. The next write compacts it. */
const READ_BYTES = 256 * 1024
/** The maximum size after compaction: the Sessions written last, without duplicates. */
const KEPT_BYTES = READ_BYTES / 2
/** Another process may compact the file while an id is appended. */
const TRIES = 3

/**
 * Records that a Log was written just now. The order of the file replaces timestamps: a later write is later in the file. It
 * is only used to find the latest Session for a person, so an error is ignored.
 */
export async function noteWritten(place: HeadFiles, session: SessionId): Promise<void> {
  const line = Buffer.from(`${session}\n`)
  const note = async () => {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const file = await place.heads.open(ORDER, 'lease')
      if (await closing(file, () => noteIn(place, file, line))) return
    }
  }
  await ifPossible(note())
}

/** False if another process replaced the file meanwhile, so that the appended id is lost. */
async function noteIn(place: HeadFiles, file: File, line: Buffer): Promise<boolean> {
  const { size } = await file.stat()
  const last = await readSpan(file, Math.max(0, size - line.length), line.length)
  if (last.equals(line)) return true
  await writeAll(file, line)
  const { links } = await file.stat()
  if (links === 0) return false
  if (size + line.length > READ_BYTES && (await file.tryLock())) await compact(place, file)
  return true
}

/**
 * Replaces the locked file with the latest distinct Sessions, at most `KEPT_BYTES`. Ids that other processes append before
 * the replacement are copied afterwards; processes that append later notice the replacement and try again.
 */
async function compact({ heads, ids }: HeadFiles, file: File): Promise<void> {
  const { size, links } = await file.stat()
  // Another process compacted it before this one had the lock.
  if (links === 0) return
  const known = sessionsIn(await readSpan(file, Math.max(0, size - READ_BYTES), READ_BYTES))
  const lines = [...new Set(known.toReversed())].map((id) => `${id}\n`)
  const count = Math.floor(KEPT_BYTES / (lines[0] ?? '').length)
  const kept = lines.slice(0, count).toReversed().join('')
  await replaceFile(heads, ORDER, Buffer.from(kept), ids.temporary())
  const noted = await readSpan(file, size, READ_BYTES)
  if (noted.length === 0) return
  await closing(await heads.open(ORDER, 'lease'), (next) => writeAll(next, noted))
}

/** The position of each Session in that order; the Session written last has the highest. */
export async function writtenOrder({
  heads,
}: Pick<HeadFiles, 'heads'>): Promise<ReadonlyMap<SessionId, number>> {
  let bytes: Buffer = Buffer.alloc(0)
  const read = async () =>
    closing(await heads.open(ORDER, 'read'), async (file) => {
      const { size } = await file.stat()
      bytes = await readSpan(file, Math.max(0, size - READ_BYTES), READ_BYTES)
    })
  await ifPossible(read())
  return new Map(sessionsIn(bytes).map((id, place) => [id, place]))
}

/** Skips lines that are not Session ids: the first may be incomplete, and a crash may leave anything. */
function sessionsIn(bytes: Buffer): SessionId[] {
  const lines = bytes.toString('latin1').split('\n')
  return lines.flatMap((line) => SessionId.safeParse(line).data ?? [])
}
