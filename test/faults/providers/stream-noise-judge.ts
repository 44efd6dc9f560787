import type { Ending } from '../support/child.ts'
import type { Noise } from './stream-noise-kinds.ts'
import type { ChildReport } from '../../support/host/child-report.ts'

/** The record of a child that received noise between two correct answers. */
export interface NoiseRecord {
  readonly noise: Pick<Noise, 'ends'>
  readonly reports: readonly ChildReport[]
  readonly ending: Ending
  /** The number of ends of each Turn in the Log, in the order of their starts. */
  readonly ends: readonly number[]
  /** Errors in its requests. */
  readonly requests: readonly string[]
}

export const MOST_GROWTH = 50_000_000

/** Error kinds that truthfully describe noise from a server. */
const FAILURES = [
  'invalid_response',
  'network',
  'stream_idle',
  'overloaded',
  'rate_limited',
  'refused',
  'context_overflow',
]
const ANY = ['completed', ...FAILURES.map((kind) => `failed ${kind}`)]

/** Harm done by noise; empty if there is none. */
export function noiseOffences(record: NoiseRecord): string[] {
  const { noise, reports, ending, ends, requests } = record
  const turns = reports.flatMap((one) =>
    one.what === 'turn' ? [one.kind === undefined ? one.status : `${one.status} ${one.kind}`] : [],
  )
  const [before, during = 'unknown', after] = turns
  const { peak } = growthOf(record)
  const { code, signal, complaint } = ending
  const unproven = reports.flatMap((one) => (one.what === 'unproven' ? [one.text] : []))
  return [
    ...(code === 0 ? [] : [`the process ended with ${signal ?? `exit code ${code}`}`]),
    ...(complaint === '' ? [] : [`it complained: ${complaint.slice(0, 2_000)}`]),
    ...((noise.ends ?? ANY).includes(during) ? [] : [`the Turn ended as ${during}`]),
    ...(before === 'completed' ? [] : [`the Turn before ended as ${before}`]),
    ...(after === 'completed' ? [] : [`the Turn after ended as ${after}`]),
    ...(ends.join() === '1,1,1' ? [] : [`the Turns have ${ends.join()} ends`]),
    ...(peak < MOST_GROWTH ? [] : [`it grew by ${Math.round(peak / 1e6)} MB`]),
    ...unproven,
    ...requests,
  ]
}

export function growthOf({ reports }: Pick<NoiseRecord, 'reports'>): { peak: number; end: number } {
  const memory = reports.find(({ what }) => what === 'memory')
  if (memory?.what !== 'memory') return { peak: 0, end: 0 }
  return { peak: memory.peak - memory.before, end: memory.after - memory.before }
}
