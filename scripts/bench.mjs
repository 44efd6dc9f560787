// Runs every bench/*.bench.ts at full size: `npm run bench -- [name…] [--write]`, or compares with an earlier commit:
// `npm run bench -- before [commit] [--quick]`.
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { runSuite } from './figures.mjs'

const [first, ...rest] = process.argv.slice(2)
process.exitCode = first === 'before' ? before(rest) : await runAll()

function before(args) {
  const script = ['--import', 'tsx', 'bench/before/run.ts', ...args]
  return spawnSync(process.execPath, script, { stdio: 'inherit' }).status ?? 1
}

function runAll() {
  return runSuite(
    {
      folder: 'bench',
      ending: '.bench.ts',
      title: 'Benchmarks',
      columns: ['bench', 'ratio', 'bar', 'ok'],
      // `peers` makes 2,000 calls with each of them.
      minutes: 25,
      sum: (figures) =>
        figures.map(({ bench, ratio, bar }) => `${bench} ${ratio} of ${bar}`).join(', '),
      complain: ({ ok, ratio, bar }) => (ok === true ? undefined : `ratio ${ratio}, bar ${bar}`),
    },
    process.argv.slice(2),
  )
}
