// One measurement of pressure.bench.ts: a Session of the given number of Turns at a window of 200,000 tokens, with tools, images
// and Skills. After each measured Turn follows one of the floor.
import { open, readFile, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { logName } from '../src/log/files/names.ts'
import { Harness } from '../src/session/harness.ts'
import { openParts } from '../test/support/session/harness-parts.ts'
import {
  precedesPaste,
  StoryModel,
  storyParts,
  storyTurn,
  writeStoryFiles,
} from '../test/support/pressure/long-story.ts'
import { recall } from '../test/support/pressure/recall-story.ts'
import { value } from '../test/support/log/story.ts'
import { cpuTimed, median, timed } from './figure.ts'
import { peakDuring } from './memory.ts'
import { SESSIONS } from './scratch.ts'

const WINDOW = 200_000
const EARLY = 10
/** With a paste of a quarter of the window, a request that fills this share of it is refused. */
const FULL = 0.75
/** A figure is the median of this many Turns. */
const AROUND = 10

const [what = '', root = '', count] = process.argv.slice(2)
console.log(JSON.stringify(what === 'recall' ? await recalled() : await measure(Number(count))))

async function measure(turns: number): Promise<Record<string, number>> {
  const model = new StoryModel(WINDOW)
  const { workspace, parts, close } = await openParts(root, storyParts(model))
  await writeStoryFiles(workspace)
  const session = value(await new Harness(parts).create({ provider: 'story', model: 'story' }))
  const log = join(root, SESSIONS, logName(session.id))
  const floorLog = await open(join(root, 'floor'), 'w')
  const early: TurnFigures[] = []
  const late: TurnFigures[] = []
  const [earlyPeaks, latePeaks]: [number[], number[]] = [[], []]
  /** Until the window is full for the first time. */
  const firstPeaks: number[] = []
  const kept: Kept[] = []
  const sizes: number[] = []
  let lost = 0
  for (let n = 1; n <= turns; n += 1) {
    model.figures.sizes.length = 0
    const before = (await stat(log)).size
    let cpu = 0
    let ms = 0
    const { peak_bytes } = await peakDuring(async () => {
      ms = await timed(async () => {
        cpu = await cpuTimed(async () => {
          if ((await storyTurn(session, model, n, workspace)) !== 'completed') lost += 1
        })
      })
    })
    const log_bytes = (await stat(log)).size - before
    const measured = near(n, EARLY) ? early : near(n, turns - AROUND / 2) ? late : undefined
    if (measured !== undefined) {
      const floor = { path: join(workspace, 'log-0.txt'), log: floorLog, log_bytes }
      let floor_cpu = 0
      const floor_ms = await timed(async () => {
        floor_cpu = await cpuTimed(() => floorTurn(model.figures.sizes, floor))
      })
      measured.push({ ms, cpu, floor_ms, floor_cpu })
    }
    if (near(n, EARLY)) earlyPeaks.push(peak_bytes)
    // Before the floors of the last Turns, whose memory is not that of the harness.
    if (near(n, turns - 2 * AROUND)) latePeaks.push(peak_bytes)
    if (model.figures.refused === 0) firstPeaks.push(peak_bytes)
    if (n === EARLY || isFull(n, model)) kept.push(keptBy(model))
    if (n % (turns / 10) === 0) sizes.push((await stat(log)).size)
  }
  const triggers = (await readFile(log, 'utf8')).matchAll(/"trigger":"(\w+)"/g)
  const recovered = [...triggers].map(([, trigger]) => trigger)
  const { refused, input, cached } = model.figures
  const grown = sizes.map((size, at) => size - (sizes[at - 1] ?? 0))
  await floorLog.close()
  await close()
  return {
    lost,
    refused,
    recovered: recovered.filter((trigger) => trigger === 'overflow_recovery').length,
    checkpoints: recovered.length,
    cached: cached / input,
    early_ratio: median(early.map(({ ms, floor_ms }) => ms / floor_ms)),
    late_ratio: median(late.map(({ ms, floor_ms }) => ms / floor_ms)),
    early_cpu_ratio: median(early.map(({ cpu, floor_cpu }) => cpu / floor_cpu)),
    late_cpu_ratio: median(late.map(({ cpu, floor_cpu }) => cpu / floor_cpu)),
    early_ms: median(early.map(({ ms }) => ms)),
    late_ms: median(late.map(({ ms }) => ms)),
    early_bytes: median(earlyPeaks),
    late_bytes: median(latePeaks),
    first_bytes: median(firstPeaks.slice(-AROUND)),
    early_kept: kept[0]?.bytes ?? 0,
    first_kept: kept[1]?.bytes ?? 0,
    late_kept: kept.at(-1)?.bytes ?? 0,
    early_request: kept[0]?.request ?? 0,
    first_request: kept[1]?.request ?? 0,
    late_request: kept.at(-1)?.request ?? 0,
    log_growth: Math.max(...grown) / Math.min(...grown),
    log_bytes: sizes.at(-1) ?? 0,
  }
}

interface TurnFigures {
  readonly ms: number
  readonly cpu: number
  readonly floor_ms: number
  readonly floor_cpu: number
}

function near(n: number, middle: number): boolean {
  return Math.abs(n - middle) <= AROUND / 2
}

interface FloorTurn {
  readonly path: string
  readonly log: FileHandle
  readonly log_bytes: number
}

/** Reads a file and joins a request of the same size for each call, and writes and syncs what the Turn adds to its Log. */
async function floorTurn(
  sizes: readonly number[],
  { path, log, log_bytes }: FloorTurn,
): Promise<void> {
  const writes = 3 * sizes.length
  for (const size of sizes) {
    const file = await readFile(path)
    const pieces = Array.from({ length: Math.ceil(size / file.length) }, () => file)
    Buffer.concat(pieces, size)
  }
  for (let write = 0; write < writes; write += 1) {
    await log.write(Buffer.alloc(Math.ceil(log_bytes / writes), 'x'))
    await log.datasync()
  }
}

/** Whether the next request is refused, for the first time or for any later one. */
function isFull(n: number, { window, figures }: StoryModel): boolean {
  return precedesPaste(n) && (figures.sizes.at(-1) ?? 0) > FULL * 4 * window
}

interface Kept {
  /** Memory after garbage collection, including buffers. */
  readonly bytes: number
  /** Bytes of the last request. */
  readonly request: number
}

/** Without compiled code, which grows with the age of a process, and without what the model keeps itself. */
function keptBy(model: StoryModel): Kept {
  setFlagsFromString('--expose-gc')
  // A released buffer is counted until the second collection.
  runInNewContext('gc(); gc()')
  const { heapUsed, external } = process.memoryUsage()
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics()
  const code = code_and_metadata_size + bytecode_and_metadata_size
  return {
    bytes: heapUsed + external - code - model.keptBytes,
    request: model.figures.sizes.at(-1) ?? 0,
  }
}

async function recalled(): Promise<Record<string, number>> {
  const model = new StoryModel(WINDOW)
  const { workspace, parts, close } = await openParts(root, storyParts(model))
  const found = await recall({ harness: new Harness(parts), workspace }, model)
  await close()
  return { ...found }
}
