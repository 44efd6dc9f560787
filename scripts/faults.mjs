// Runs every test/faults/*/*.fault.ts at full size: `npm run test:faults -- [name…] [--write]`.
import { runSuite } from './figures.mjs'

process.exitCode = await runSuite(
  {
    folder: 'test/faults',
    ending: '.fault.ts',
    title: 'Faults',
    columns: ['test', 'n', 'violations', 'seed'],
    minutes: 30,
    complain: ({ violations }) => (violations === 0 ? undefined : `${violations} violations`),
  },
  process.argv.slice(2),
)
