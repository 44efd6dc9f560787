// Opening a long Log reads what follows its index, and little else. A killed writer leaves more after its index, and
// a head that lags.
import { cp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLog } from '../src/log/open.ts'
import { indexName, logName } from '../src/log/files/names.ts'
import { openReader } from '../src/log/reader.ts'
import type { EventDraft } from '../src/model/events/event.ts'
import type { SessionId, TurnId } from '../src/model/ids.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import { value } from '../test/support/log/story.ts'
import { textFold } from '../test/support/log/text-fold.ts'
import { countingPlace } from './counting-folder.ts'
import { full, tell, timed } from './figure.ts'
import { LongStory, writeLongLog } from './long-log.ts'
import { inScratch, SESSIONS } from './scratch.ts'

const LOG_BYTES = (full ? 200 : 20) * 1024 * 1024
/** How much a killed writer wrote after the index, and the length of the first text after the head. */
const KILLED = [
  { name: 'killed', tail: 200_000, first: 0 },
  { name: 'killed after a long line', tail: 600_000, first: 60_000 },
] as const
const BAR = '<= 262144'

await inScratch(async (folder) => {
  const released = join(folder, 'released')
  const session = await writeLongLog(await diskPlace(released), LOG_BYTES)
  await measure('released', released, session)
  for (const { name, tail, first } of KILLED) {
    const killed = join(folder, name)
    await leaveAsKilled(released, killed, session, tail, first)
    await measure(name, killed, session)
  }
})

/** A copy of the place in the middle of a Turn, as a kill leaves it. */
async function leaveAsKilled(
  from: string,
  to: string,
  session: SessionId,
  tail: number,
  first: number,
): Promise<void> {
  const writing = `${to} writing`
  await cp(from, writing, { recursive: true })
  const storage = await diskPlace(writing)
  const { place, keep } = storage
  const writer = value(await acquireLog(place, session, { fold: textFold, keep }))
  const begin = writer.cursor.offset
  const story = new LongStory(storage, 2)
  if (first > 0) value(await writer.append([longMessage(place.ids.turn(), first)]))
  while (writer.cursor.offset - begin < tail) {
    value(await writer.append(story.unendedTurn(1)))
  }
  await cp(writing, to, { recursive: true })
  await writer.release()
}

function longMessage(turn_id: TurnId, length: number): EventDraft {
  return {
    type: 'user_message',
    turn_id,
    data: { text: 'a boat '.repeat(length).slice(0, length), prompt_mode: 'string' },
  }
}

async function measure(name: string, path: string, session: SessionId): Promise<void> {
  const { place, keep } = await diskPlace(path)
  const sessions = join(path, SESSIONS)
  const tail = await bytesBehindIndex(sessions, session)

  const reading = { bytesRead: 0 }
  const readMs = await timed(async () => {
    const reader = value(await openReader(countingPlace(place, reading), session))
    const { damage } = value(await reader.fold(textFold))
    await reader.close()
    if (damage !== undefined) throw new Error(damage.message)
  })
  reportBytes(`open to read, ${name}`, reading.bytesRead, tail, readMs)

  // Last, because it changes the place: it records a killed writer and writes the index.
  const writing = { bytesRead: 0 }
  const counted = countingPlace(place, writing)
  const started = performance.now()
  const writer = value(await acquireLog(counted, session, { fold: textFold, keep }))
  const writeMs = performance.now() - started
  reportBytes(`open to write, ${name}`, writing.bytesRead, tail, writeMs)
  await writer.release()
}

function reportBytes(bench: string, bytes_read: number, tail_bytes: number, ms: number): void {
  const more = { bytes_read, tail_bytes, ms }
  tell({
    bench: `${bench}: bytes read beyond the tail`,
    ratio: bytes_read - tail_bytes,
    bar: BAR,
    more,
  })
}

async function bytesBehindIndex(sessions: string, session: SessionId): Promise<number> {
  const index = await readFile(join(sessions, indexName(session)), 'utf8')
  const through = /"through_offset":(\d+)/.exec(index)?.[1]
  if (through === undefined) throw new Error('the Log was released without an index')
  const { size } = await stat(join(sessions, logName(session)))
  return size - Number(through)
}
