// Runs every bench/*.bench.ts at full size: `npm run bench -- [name…] [--write]`.
import { runSuite } from './figures.mjs'

process.exitCode = await runSuite(
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
