import { randomInt } from 'node:crypto'

/** `--seed N` repeats a run; otherwise each run has a new seed and prints it. */
export function chosenSeed(): number {
  const at = process.argv.indexOf('--seed')
  const seed = Number(process.argv[at + 1])
  return at !== -1 && Number.isInteger(seed) ? seed : randomInt(1_000_000_000)
}

/** Runs `n` trials and prints the result line; the first few violations precede it. */
export async function report(
  test: string,
  seed: number,
  n: number,
  trial: (i: number) => Promise<readonly string[]>,
): Promise<void> {
  let violations = 0
  for (let i = 0; i < n; i++) {
    const offences = await trial(i)
    if (offences.length === 0) continue
    violations += 1
    if (violations <= 5) console.log(`trial ${i}: ${offences.join('; ')}`)
  }
  console.log(JSON.stringify({ test, n, violations, seed }))
}
