// Prints every test that a run failed, with the first lines of its error.
// Usage: node scripts/failed.mjs REPORT.json   (a report of `vitest --reporter=json`)
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LINES = 12
const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'))

for (const { name, status, message, assertionResults } of testResults) {
  const failed = assertionResults.filter((test) => test.status === 'failed')
  for (const { fullName, failureMessages } of failed) {
    print(`failed ${relative(ROOT, name)}: ${fullName.trim()}`, failureMessages.join('\n'))
  }
  // A file that could not be loaded has no tests.
  if (status === 'failed' && failed.length === 0) print(`failed ${relative(ROOT, name)}`, message)
}

function print(title, text) {
  const lines = text.split('\n').slice(0, LINES)
  console.log([title, ...lines.map((line) => `  ${line}`)].join('\n'))
}
