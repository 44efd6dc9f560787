// One measurement of turn.bench.ts: a Turn of the given number of tool round trips, its last ones alternating with a short Turn. Measured
// round trips of both are followed by one of the floor.
import { open, readFile, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ok } from '../src/model/errors.ts'
import { Harness } from '../src/session/harness.ts'
import type { Session } from '../src/session/session.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import { value } from '../test/support/log/story.ts'
import { median, timed } from './figure.ts'
import { logAmounts, type LogAmounts } from './log-growth.ts'
import { peakDuring } from './memory.ts'
import { readingModel } from './reading-model.ts'
import { takingTurns } from './taking-turns.ts'

const SOON = 20
const EARLY = 50
/** A figure is the median of this many round trips, or of fewer if fewer precede. */
const AROUND = 50
const FILE = 'notes.txt'
const FILE_BYTES = 300

const [root = '', count] = process.argv.slice(2)
console.log(JSON.stringify(await measure(Number(count))))

async function measure(late: number): Promise<Record<string, number>> {
  const long = readingModel(FILE, late + AROUND / 2)
  const young = readingModel(FILE, EARLY + AROUND / 2)
  const { workspace, parts, close } = await openParts(root, {
    model: {
      providerOf: async (name) => ok(name === 'long' ? long : young),
      limits: { provider_calls: 100_000, retries: 0 },
    },
  })
  await writeFile(join(workspace, FILE), 'The tide turns at six.\n'.repeat(20).slice(0, FILE_BYTES))
  const harness = new Harness(parts)
  const begin = async (provider: string) =>
    value(await harness.create({ provider, model: 'bench' }))
  const session = await begin('long')
  const floorLog = await open(join(root, 'floor'), 'w')
  const path = join(workspace, FILE)
  const [longFloor, youngFloor]: [Buffer[], Buffer[]] = [[], []]
  const [longFloorMs, youngFloorMs]: [number[], number[]] = [[], []]
  const turns = takingTurns()
  let amounts = await amountsOf(session)
  let each = amounts
  let besides = Promise.resolve()

  long.onRequest = async (trip) => {
    if (trip === EARLY) amounts = await amountsOf(session)
    // A short Turn is comparable only now: the first one of a process waits for the compiler.
    if (trip === late - AROUND / 2) {
      each = grownEach(amounts, await amountsOf(session), trip - EARLY)
      for (let before = 0; before < trip; before += 1) await floorRead(path, longFloor)
      besides = runTurn(await begin('young'))
    }
    if (trip >= late - AROUND / 2) {
      longFloorMs.push(await timed(() => floorTrip(path, floorLog, longFloor, each)))
    }
    if (trip >= late + AROUND / 2) turns.end()
    else if (trip >= late - AROUND / 2) await turns.next()
  }
  young.onRequest = async (trip) => {
    if (trip < 2 * SOON) {
      youngFloorMs.push(await timed(() => floorTrip(path, floorLog, youngFloor, each)))
    }
    if (trip >= EARLY - AROUND / 2) await turns.next()
  }
  const { peak_bytes } = await peakDuring(async () => {
    await runTurn(session)
    await besides
  })
  await floorLog.close()
  await close()
  return {
    soon_ms: around(young.ms, SOON),
    soon_floor_ms: around(youngFloorMs, SOON),
    late_floor_ms: median(longFloorMs),
    early_ms: around(young.ms, EARLY),
    late_ms: around(long.ms, late),
    early_cpu_ms: around(young.cpuMs, EARLY),
    late_cpu_ms: around(long.cpuMs, late),
    ...each,
    peak_bytes,
  }
}

async function runTurn(session: Session): Promise<void> {
  const { done } = value(await session.admit('Read the notes again and again.'))
  const ended = value(await done)
  if (ended.status !== 'completed') throw new Error(`the Turn was ${ended.status}`)
}

/** Reads the file, joins everything read so far, and writes and syncs as much and as often as a round trip. */
async function floorTrip(
  path: string,
  log: FileHandle,
  pieces: Buffer[],
  { log_bytes, syncs }: Amounts,
): Promise<void> {
  const writes = Math.round(syncs)
  for (let write = 0; write < writes; write += 1) {
    await log.write(Buffer.alloc(Math.round(log_bytes / writes), 'x'))
    await log.datasync()
  }
  await floorRead(path, pieces)
  Buffer.concat(pieces)
}

async function floorRead(path: string, pieces: Buffer[]): Promise<void> {
  pieces.push(Buffer.from(JSON.stringify({ path })), await readFile(path))
}

interface Amounts extends LogAmounts {
  readonly kept_bytes: number
}

async function amountsOf(session: Session): Promise<Amounts> {
  return { kept_bytes: keptBytes(), ...(await logAmounts(root, session)) }
}

function grownEach(before: Amounts, after: Amounts, trips: number): Amounts {
  return {
    kept_bytes: (after.kept_bytes - before.kept_bytes) / trips,
    log_bytes: (after.log_bytes - before.log_bytes) / trips,
    syncs: (after.syncs - before.syncs) / trips,
  }
}

/** Memory after garbage collection, including buffers. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc')
  // A released buffer is counted until the second collection.
  runInNewContext('gc(); gc()')
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function around(values: readonly number[], middle: number): number {
  const before = Math.min(AROUND, middle) / 2
  return median(values.slice(middle - before, middle + before))
}
