import type { Ending } from './child.ts'
import type { Noise } from './stream-noise-kinds.ts'
import type { Told } from './told.ts'

/** What is known of a child that heard noise between two right answers. */
export interface HeardNoise {
  readonly noise: Pick<Noise, 'ends'>
  readonly told: readonly Told[]
  readonly ending: Ending
  /** How many ends each Turn has in the Log, in the order in which they began. */
  readonly ends: readonly number[]
  /** What was wrong with its requests. */
  readonly requests: readonly string[]
}

export const MOST_GROWTH = 50_000_000

/** Ways to fail that say of an answer, or of its server, what can be said of noise. */
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

/** What noise did that it must not; empty when all is well. */
export function noiseOffences(heard: HeardNoise): string[] {
  const { noise, told, ending, ends, requests } = heard
  const turns = told.flatMap((one) =>
    one.what === 'turn' ? [one.kind === undefined ? one.status : `${one.status} ${one.kind}`] : [],
  )
  const [before, during = 'unknown', after] = turns
  const { peak } = growthOf(heard)
  const { code, signal, complaint } = ending
  const unproven = told.flatMap((one) => (one.what === 'unproven' ? [one.text] : []))
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

export function growthOf({ told }: Pick<HeardNoise, 'told'>): { peak: number; end: number } {
  const memory = told.find(({ what }) => what === 'memory')
  if (memory?.what !== 'memory') return { peak: 0, end: 0 }
  return { peak: memory.peak - memory.before, end: memory.after - memory.before }
}
