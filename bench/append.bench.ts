// 200 callers append to one Log at once. The floor writes and syncs the very same bytes in the same batches.
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogWriter } from '../src/log/append.ts'
import { createLog } from '../src/log/open.ts'
import { logName } from '../src/log/place.ts'
import type { EventDraft } from '../src/model/events/event.ts'
import { diskPlace } from '../test/support/disk-place.ts'
import type { TestPlace } from '../test/support/log-place.ts'
import { sessionStarted, value } from '../test/support/story.ts'
import * as z from 'zod'
import type { Fold } from '../src/log/derived-index.ts'
import { cpuTimed, full, median, tell, timed } from './figure.ts'
import { inScratch, SESSIONS } from './scratch.ts'

/** What a caller makes of its Events is not the Log's to answer for, so it is as little as can be. */
const countFold: Fold<number> = {
  version: 'count',
  schema: z.number(),
  initial: 0,
  step: (n) => n + 1,
}

const CALLERS = 200
const EVENTS = full ? 20_000 : 4_000
const ROUNDS = full ? 11 : 3
const TEXT = 'The harbour master counts the boats, and writes each one down. '
  .repeat(5)
  .slice(0, 300)

await inScratch(async (folder) => {
  const here = await diskPlace(folder)
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { ms, cpuMs, batches } = await appendAll(here, join(folder, SESSIONS))
    const floor = await writeAndSync(join(folder, `${round}.floor`), batches)
    rounds.push({ ratio: floor / ms, ms, cpuMs, floor, syncs: batches.length })
  }
  const syncs = median(rounds.map((round) => round.syncs))
  tell({
    bench: 'append: events/s of 200 callers, of bare write and fdatasync',
    ratio: median(rounds.map((round) => round.ratio)),
    bar: '>= 0.35',
    more: {
      events_per_s: Math.round((EVENTS / median(rounds.map((round) => round.ms))) * 1000),
      floor_events_per_s: Math.round((EVENTS / median(rounds.map((round) => round.floor))) * 1000),
      cpu_us_per_event: (median(rounds.map((round) => round.cpuMs)) / EVENTS) * 1000,
      syncs,
      mean_batch: EVENTS / syncs,
    },
  })
})

async function appendAll(
  { place, keep }: TestPlace,
  sessions: string,
): Promise<{ ms: number; cpuMs: number; batches: Buffer[] }> {
  const session = place.ids.session()
  const writer = value(await createLog(place, session, [sessionStarted], { fold: countFold, keep }))
  const begin = writer.cursor.offset
  const draft: EventDraft = {
    type: 'user_message',
    turn_id: place.ids.turn(),
    data: { text: TEXT, prompt_mode: 'string' },
  }
  let ms = 0
  const cpuMs = await cpuTimed(async () => {
    ms = await timed(() =>
      Promise.all(Array.from({ length: CALLERS }, () => appendOften(writer, draft))),
    )
  })
  await writer.release()
  const log = await readFile(join(sessions, logName(session)))
  return { ms, cpuMs, batches: batchesOf(log.subarray(begin)) }
}

async function appendOften(writer: LogWriter<number>, draft: EventDraft): Promise<void> {
  for (let i = 0; i < EVENTS / CALLERS; i += 1) value(await writer.append([draft]))
}

/** A line without `batch` is the first of its write. */
function batchesOf(log: Buffer): Buffer[] {
  const batches: Buffer[] = []
  let begin = 0
  for (let from = 0; from < log.length;) {
    const end = log.indexOf('\n', from)
    const first = !log.toString('latin1', from, end).includes(',"batch":')
    if (first && from > begin) {
      batches.push(log.subarray(begin, from))
      begin = from
    }
    from = end + 1
  }
  return [...batches, log.subarray(begin)]
}

async function writeAndSync(path: string, batches: readonly Buffer[]): Promise<number> {
  const file = await open(path, 'ax')
  const ms = await timed(async () => {
    for (const batch of batches) {
      await file.write(batch)
      await file.datasync()
    }
  })
  await file.close()
  return ms
}
