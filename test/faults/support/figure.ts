import { chosenSeed } from './report.ts'

export interface Figure {
  readonly test: string
  readonly n: number
  /** Each as a sentence; only their number is recorded. */
  readonly violations: readonly string[]
  readonly more?: Readonly<Record<string, number | string>>
}

const SHOWN = 20

/**
 * Runs a script that needs more than files: `cannot` returns what is missing, if anything. Without `--full`
 * the run is as small as in `npm test`.
 */
export async function runFault(
  test: string,
  cannot: () => Promise<string | undefined>,
  work: (run: { seed: number; full: boolean }) => Promise<readonly Figure[]>,
): Promise<void> {
  const skipped = await cannot()
  if (skipped !== undefined) return console.log(JSON.stringify({ test, skipped }))
  const seed = chosenSeed()
  // Printed first, so that a run that fails can be repeated.
  console.log(`${test}: seed ${seed}`)
  for (const { violations, more, ...figure } of await work({
    seed,
    full: process.argv.includes('--full'),
  })) {
    for (const violation of violations.slice(0, SHOWN)) console.log(`${figure.test}: ${violation}`)
    console.log(JSON.stringify({ ...figure, violations: violations.length, seed, ...more }))
    if (violations.length > 0) process.exitCode = 1
  }
}
