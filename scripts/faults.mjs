// Runs every test/faults/*/*.fault.ts at full size: `npm run test:faults -- [name…] [--write]`.
import { runSuite } from './figures.mjs'

process.exitCode = await runSuite(
  {
    folder: 'test/faults',
    ending: '.fault.ts',
    title: 'Faults',
    columns: ['test', 'n', 'violations', 'seed'],
    minutes: 30,
    sum: (figures) => {
      const of = (key) => figures.reduce((total, figure) => total + Number(figure[key] ?? 0), 0)
      return `n ${of('n').toLocaleString('en')}, ${of('violations')} violations`
    },
    complain: ({ violations }) => (violations === 0 ? undefined : `${violations} violations`),
  },
  process.argv.slice(2),
)
