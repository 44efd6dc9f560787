// Has other clients complete a tool loop against `hawser rehearse`: `npm run test:clients -- [name…] [--write]`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSuite } from './figures.mjs'

// A client script that is ended cannot remove what it installed, so everything lies in a folder that this one removes.
const scratch = mkdtempSync(join(tmpdir(), 'hawser-clients-'))
process.env.TMPDIR = scratch
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

process.exitCode = await runSuite(
  {
    folder: 'test/clients',
    ending: '.client.ts',
    title: 'Clients',
    columns: ['loop', 'version', 'completed', 'calls', 'requests'],
    minutes: 12,
    sum: (figures) =>
      `${figures.filter(({ completed }) => completed === true).length} of ${figures.length} loops completed`,
    complain: ({ completed }) => (completed === true ? undefined : 'the loop was not completed'),
  },
  process.argv.slice(2),
)
