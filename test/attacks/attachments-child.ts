import { runAttachmentCases } from './attachment-runs.ts'

/** A child process that tries the cases as whoever it runs as, in the folder it is told, and prints what became of them. */
const run = await runAttachmentCases(process.argv[2] ?? '')
console.log(JSON.stringify({ ...run, uid: process.getuid?.() ?? 0 }))
