import { runSwaps } from './folder-swaps.ts'

/** A child process that swaps folders as its user, in the given folder, and prints the results. */
console.log(JSON.stringify(await runSwaps(process.argv[2] ?? '')))
