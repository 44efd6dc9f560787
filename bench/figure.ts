import process from 'node:process'

/** One row of the table that scripts/bench.mjs writes. `ratio` is compared with `bar`. */
interface Figure {
  readonly bench: string
  readonly ratio: number
  readonly bar: `${'<=' | '>='} ${number}`
  readonly more: Readonly<Record<string, number | string>>
}

/** Without it, a script runs at a tenth of the size, and its figures mean little. */
export const full = process.argv.includes('--full')

export function tell({ bench, ratio, bar, more }: Figure): void {
  const [sign, limit] = bar.split(' ')
  const ok = sign === '<=' ? ratio <= Number(limit) : ratio >= Number(limit)
  console.log(JSON.stringify({ bench, ratio: rounded(ratio), bar, ok, ...allRounded(more) }))
}

/** For a measurement that this machine does not support. */
export function tellSkipped(bench: string, why: string): void {
  console.log(JSON.stringify({ bench, skipped: why }))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The median of each measurement divided by that of the same round. */
export function medianRatio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((ms, at) => ms / (to[at] ?? ms)))
}

/** The value below which the fraction `q` of all values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
  if (value === undefined) throw new Error('nothing was measured')
  return value
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Milliseconds of CPU time that `work` took: a measure of the work even if other programs use the CPU. */
export async function cpuTimed(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function rounded(value: number): number {
  return Number(value.toPrecision(value >= 1000 ? 6 : 3))
}

function allRounded(more: Figure['more']): Figure['more'] {
  return Object.fromEntries(
    Object.entries(more).map(([key, value]) => [
      key,
      typeof value === 'number' ? rounded(value) : value,
    ]),
  )
}
