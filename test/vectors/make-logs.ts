// Writes the example Logs of docs/spec/log.md: `node --import tsx test/vectors/make-logs.ts`.
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { exampleLogs } from './example-logs.ts'

const folder = fileURLToPath(new URL('logs/', import.meta.url))
mkdirSync(folder, { recursive: true })
const expected: Record<string, unknown> = {}
for (const { name, bytes, ...outcome } of exampleLogs()) {
  writeFileSync(`${folder}${name}.ndjson`, bytes)
  expected[name] = outcome
}
writeFileSync(`${folder}expected.json`, `${JSON.stringify(expected, undefined, 2)}\n`)
