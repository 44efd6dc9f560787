import { closing, ifPossible, readSpan, writeAll } from '../host/files/files.ts'
import { SessionId } from '../model/ids.ts'
import type { LogPlace } from './place.ts'

/** One Session id a line, in the order in which Logs were written: in `heads`, outside the reach of what runs in a workspace. */
const ORDER = 'order'

/** Of a longer file only the end counts: that is some thousands of turns from one Session to another. */
const READ_BYTES = 256 * 1024

/**
 * Notes that a Log was written just now. No clock is asked: whoever writes later stands later in the file. It informs people
 * who ask for the latest Session and nothing else, so a note that cannot be made is no failure.
 */
export async function noteWritten(
  { heads }: Pick<LogPlace, 'heads'>,
  session: SessionId,
): Promise<void> {
  const line = Buffer.from(`${session}\n`)
  const note = async () =>
    closing(await heads.open(ORDER, 'lease'), async (file) => {
      const { size } = await file.stat()
      const last = await readSpan(file, Math.max(0, size - line.length), line.length)
      if (!last.equals(line)) await writeAll(file, line)
    })
  await ifPossible(note())
}

/** The place of each Session in that order; whoever was written last has the highest. */
export async function writtenOrder({
  heads,
}: Pick<LogPlace, 'heads'>): Promise<ReadonlyMap<SessionId, number>> {
  let text = ''
  const read = async () =>
    closing(await heads.open(ORDER, 'read'), async (file) => {
      const { size } = await file.stat()
      text = (await readSpan(file, Math.max(0, size - READ_BYTES), READ_BYTES)).toString('latin1')
    })
  await ifPossible(read())
  const ids = text.split('\n').flatMap((line) => SessionId.safeParse(line).data ?? [])
  return new Map(ids.map((id, place) => [id, place]))
}
