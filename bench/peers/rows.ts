import { median } from '../figure.ts'
import type { Contestant } from './contestant.ts'
import type { Model } from './model.ts'
import { runOnce, type Run } from './run.ts'

/** How often each measurement is repeated. */
export interface Sizes {
  readonly starts: number
  readonly trips: number
  readonly memory: number
  readonly resumes: number
  readonly longCalls: number
}

const FULL: Sizes = { starts: 15, trips: 5, memory: 5, resumes: 7, longCalls: 2_000 }
/** At full size, unless `--calls=NUMBER` makes the long Turn shorter. */
export function fullSizes(args: readonly string[]): Sizes {
  const calls = args.flatMap((arg) => /^--calls=(\d+)$/.exec(arg)?.[1] ?? [])[0]
  return calls === undefined ? FULL : { ...FULL, longCalls: Number(calls) }
}

export const QUICK: Sizes = { starts: 2, trips: 1, memory: 1, resumes: 1, longCalls: 60 }

/** The measured values of one contestant, by the name of a row. */
export type Values = Readonly<Record<RowName, readonly number[]>>
export type RowName = (typeof ROWS)[number]['name']

/** A row with `beats` is one in which Hawser must be at least as good as the best peer. */
export const ROWS = [
  { name: 'start', title: 'start to first request, ms', beats: true },
  { name: 'trip', title: 'tool round trip, 20 reads, ms', beats: true },
  { name: 'early', title: 'CALLS calls in one Turn: the first 50, ms each', beats: false },
  { name: 'late', title: 'CALLS calls in one Turn: the last 50, ms each', beats: true },
  // Only Hawser runs commands in a sandbox here.
  { name: 'shell', title: 'a shell command: first of a process, ms', beats: false },
  { name: 'shellLater', title: 'a shell command: later, ms', beats: false },
  { name: 'resume', title: 'resume of CALLS calls to first request, ms', beats: true },
  { name: 'peak', title: 'peak memory of one Turn, MB', beats: true },
  { name: 'longPeak', title: 'peak memory of CALLS calls, MB', beats: true },
] as const

const SHELL_CALLS = 9
const TRIP_CALLS = 20
const AROUND = 50
/** Reading memory takes time, so nothing else is measured in the same run, except in the long one, where it is read rarely. */
const PEAK_EVERY_MS = 4
const LONG_PEAK_EVERY_MS = 500

/** Measures all rows; those of the long Turn of some contestants only. In each round every contestant has one turn, and the one that begins changes. */
export async function measureRows(
  contestants: readonly Contestant[],
  model: Model,
  sizes: Sizes,
  hasLongTurn: (one: Contestant) => boolean = () => true,
): Promise<ReadonlyMap<Contestant, Values>> {
  const values = new Map(contestants.map((one) => [one, emptyValues()]))
  const rounds = async (
    count: number,
    measure: (one: Contestant, own: Record<RowName, number[]>) => Promise<void>,
  ) => {
    for (let round = 0; round < count; round += 1) {
      for (const one of rotated([...values], round)) await measure(...one)
    }
  }
  // What a program does only once, and reading its files for the first time, is not measured.
  await rounds(1, async (one) => void (await runOnce(one, model, { calls: 1 })))
  await rounds(sizes.starts, async (one, { start }) => {
    start.push((await runOnce(one, model, {})).startMs)
  })
  await rounds(sizes.trips, async (one, { trip, shell, shellLater }) => {
    trip.push(median((await runOnce(one, model, { calls: TRIP_CALLS })).tripsMs))
    const { tripsMs } = await runOnce(one, model, { kind: 'shell', calls: SHELL_CALLS })
    shell.push(tripsMs[0] ?? 0)
    shellLater.push(median(tripsMs.slice(1)))
  })
  await rounds(sizes.memory, async (one, { peak }) => {
    peak.push((await runOnce(one, model, { peakEveryMs: PEAK_EVERY_MS })).peakMb)
  })
  await rounds(1, async (one, own) => {
    if (!hasLongTurn(one)) return
    const request = { calls: sizes.longCalls, peakEveryMs: LONG_PEAK_EVERY_MS }
    pushLong(await runOnce(one, model, request), own)
  })
  await rounds(sizes.resumes, async (one, { resume }) => {
    if (!hasLongTurn(one)) return
    resume.push((await runOnce(one, model, { resumes: true })).startMs)
  })
  return values
}

function pushLong(
  { tripsMs, peakMb }: Run,
  { early, late, longPeak }: Record<RowName, number[]>,
): void {
  // All of them, so that the table shows their spread within the run.
  early.push(...tripsMs.slice(0, AROUND))
  late.push(...tripsMs.slice(-AROUND))
  longPeak.push(peakMb)
}

function emptyValues(): Record<RowName, number[]> {
  return {
    start: [],
    trip: [],
    early: [],
    late: [],
    shell: [],
    shellLater: [],
    resume: [],
    peak: [],
    longPeak: [],
  }
}

function rotated<T>(all: readonly T[], by: number): readonly T[] {
  const at = by % all.length
  return [...all.slice(at), ...all.slice(0, at)]
}
