// Generates the parts of docs/ about commands, settings and JSON output, and the manual page, from the program: `npm run docs`.
// `npm run docs -- --check` writes nothing and fails if a document is stale.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const child = spawn(
  process.execPath,
  ['--import', 'tsx', 'test/documents/write.ts', ...process.argv.slice(2)],
  { cwd: fileURLToPath(new URL('..', import.meta.url)), stdio: 'inherit' },
)
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
