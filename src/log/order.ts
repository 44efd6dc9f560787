import {
  closing,
  ifPossible,
  readSpan,
  replaceFile,
  writeAll,
  type File,
} from '../host/files/files.ts'
import { SessionId } from '../model/ids.ts'
import type { LogPlace } from './place.ts'

/** One Session id a line, in the order in which Logs were written: in `heads`, outside the reach of what runs in a workspace. */
const ORDER = 'order'

/** Of a longer file only the end counts. The next note then compacts it. */
const READ_BYTES = 256 * 1024
/** The size that compacting leaves at most: the Sessions written last, each once. */
const KEPT_BYTES = READ_BYTES / 2
/** Another process may compact the file while a note is made in it. */
const TRIES = 3

/**
 * Notes that a Log was written just now. No clock is asked: whoever writes later stands later in the file. It informs people
 * who ask for the latest Session and nothing else, so a note that cannot be made is no failure.
 */
export async function noteWritten(
  place: Pick<LogPlace, 'heads' | 'ids'>,
  session: SessionId,
): Promise<void> {
  const line = Buffer.from(`${session}\n`)
  const note = async () => {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const file = await place.heads.open(ORDER, 'lease')
      if (await closing(file, () => noteIn(place, file, line))) return
    }
  }
  await ifPossible(note())
}

/** False if another process replaced the file meanwhile, so that nobody reads the note. */
async function noteIn(
  place: Pick<LogPlace, 'heads' | 'ids'>,
  file: File,
  line: Buffer,
): Promise<boolean> {
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
 * Replaces the file, which is locked, by its last `KEPT_BYTES` of different Sessions. Whoever notes in the old file before it is
 * replaced is copied afterwards, and whoever notes in it later notices that.
 */
async function compact({ heads, ids }: Pick<LogPlace, 'heads' | 'ids'>, file: File): Promise<void> {
  const { size, links } = await file.stat()
  // Compacted by another process, before this one had the lock.
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

/** The place of each Session in that order; whoever was written last has the highest. */
export async function writtenOrder({
  heads,
}: Pick<LogPlace, 'heads'>): Promise<ReadonlyMap<SessionId, number>> {
  let bytes: Buffer = Buffer.alloc(0)
  const read = async () =>
    closing(await heads.open(ORDER, 'read'), async (file) => {
      const { size } = await file.stat()
      bytes = await readSpan(file, Math.max(0, size - READ_BYTES), READ_BYTES)
    })
  await ifPossible(read())
  return new Map(sessionsIn(bytes).map((id, place) => [id, place]))
}

/** Lines that are no Session id are passed over: the first may be cut, and a crash may leave anything. */
function sessionsIn(bytes: Buffer): SessionId[] {
  const lines = bytes.toString('latin1').split('\n')
  return lines.flatMap((line) => SessionId.safeParse(line).data ?? [])
}
