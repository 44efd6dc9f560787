import { chosenSeed } from './report.ts'

export interface Figure {
  readonly test: string
  readonly n: number
  /** Each in words; their number is what counts. */
  readonly violations: readonly string[]
  readonly more?: Readonly<Record<string, number | string>>
}

const SHOWN = 20

/**
 * Runs a script that needs more of the machine than files: `cannot` says what is missing, if anything. Without `--full`
 * the run is as small as the one of `npm test`.
 */
export async function runFault(
  test: string,
  cannot: () => Promise<string | undefined>,
  work: (run: { seed: number; full: boolean }) => Promise<readonly Figure[]>,
): Promise<void> {
  const skipped = await cannot()
  if (skipped !== undefined) return console.log(JSON.stringify({ test, skipped }))
  const seed = chosenSeed()
  // Said before anything can go wrong, so that also a run that breaks off can be repeated.
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
