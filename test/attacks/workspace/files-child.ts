import { runFileCases } from './file-runs.ts'

/** A child process that tries the cases as its user, in the given folder, and prints the results. */
const run = await runFileCases(process.argv[2] ?? '')
console.log(JSON.stringify({ ...run, uid: process.getuid?.() ?? 0 }))
