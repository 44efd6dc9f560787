// Prints every test that a run skipped, and fails if .ci/skips.json does not list one for this platform.
// Usage: node scripts/skipped.mjs REPORT.json...   (reports of `vitest --reporter=json`)
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const platform = `${process.platform} as ${process.getuid?.() === 0 ? 'root' : 'user'}`
const named = JSON.parse(readFileSync(`${ROOT}/.ci/skips.json`, 'utf8'))[platform] ?? {}
const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')))

let unexpected = 0
for (const { file, title } of reports.flatMap(skippedIn)) {
  const reason = named[file]?.[title]
  if (reason === undefined) unexpected += 1
  console.log(`skipped ${file}: ${title} (${reason ?? 'not in .ci/skips.json'})`)
}
if (unexpected > 0) {
  console.log(`${unexpected} skipped test(s) that .ci/skips.json does not name for "${platform}"`)
  process.exitCode = 1
}

function skippedIn(report) {
  return report.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName }) => ({ file: relative(ROOT, name), title: fullName.trim() })),
  )
}
