// 200 callers append to one Log concurrently. The floor encodes, hashes and checksums the same Events in a bare loop.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import * as z from 'zod'
import { sha256 } from '../src/encoding/hash.ts'
import { canonicalJson } from '../src/encoding/json.ts'
import type { LogWriter } from '../src/log/append.ts'
import type { Fold } from '../src/log/derived-index.ts'
import { createLog } from '../src/log/open.ts'
import { logName } from '../src/log/files/names.ts'
import type { EventDraft } from '../src/model/events/event.ts'
import { diskPlace } from '../test/support/log/disk-place.ts'
import type { TestPlace } from '../test/support/log/log-place.ts'
import { sessionStarted, value } from '../test/support/log/story.ts'
import { cpuTimed, full, median, medianRatio, tell, timed } from './figure.ts'
import { inScratch, SESSIONS } from './scratch.ts'

/** The caller's own work on its Events is not part of the measurement, so it is minimal. */
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
  const storage = await diskPlace(folder)
  const rounds: (Appended & { readonly floorCpuMs: number })[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const appended = await appendAll(storage, join(folder, SESSIONS))
    rounds.push({ ...appended, floorCpuMs: await encodeAll(appended.events) })
  }
  await storage.close()
  const cpuMs = rounds.map((round) => round.cpuMs)
  const floorCpuMs = rounds.map((round) => round.floorCpuMs)
  const syncs = median(rounds.map((round) => round.syncs))
  tell({
    bench: 'append: CPU per Event with 200 callers, relative to canonicalJson, SHA-256 and CRC-32',
    ratio: medianRatio(cpuMs, floorCpuMs),
    bar: '<= 2',
    more: {
      cpu_us_per_event: (median(cpuMs) / EVENTS) * 1000,
      floor_cpu_us_per_event: (median(floorCpuMs) / EVENTS) * 1000,
      events_per_s: Math.round((EVENTS / median(rounds.map((round) => round.ms))) * 1000),
      syncs,
      mean_batch: EVENTS / syncs,
    },
  })
})

interface Appended {
  readonly ms: number
  readonly cpuMs: number
  readonly syncs: number
  /** The appended Events, as a reader of the Log gets them. */
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

async function appendAll({ place, keep }: TestPlace, sessions: string): Promise<Appended> {
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
  const lines = log.subarray(begin).toString('utf8').trimEnd().split('\n')
  const events = lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
  // A line without `batch` is the first of its write.
  return { ms, cpuMs, syncs: events.filter(({ batch }) => batch === undefined).length, events }
}

async function appendOften(writer: LogWriter<number>, draft: EventDraft): Promise<void> {
  for (let i = 0; i < EVENTS / CALLERS; i += 1) value(await writer.append([draft]))
}

/** CPU time of the work that this format requires. */
function encodeAll(events: Appended['events']): Promise<number> {
  let seen = 0
  return cpuTimed(async () => {
    for (const event of events) {
      const bytes = Buffer.from(canonicalJson(event))
      seen += crc32(bytes) + sha256(bytes).length
    }
    if (!Number.isFinite(seen)) throw new Error('nothing was encoded')
  })
}
