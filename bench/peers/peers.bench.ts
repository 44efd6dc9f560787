// Hawser beside other agents: installs them from npm into a cache, and runs the same Turns of all of them, one after another in
// each round, with a model on loopback that answers at once. At full size it also writes the tables of bench/README.md and
// README.md. Nothing else is contacted, and their reports and updates are off.
import { release, type } from 'node:os'
import process from 'node:process'
import { Unavailable } from '../../test/support/npm/install.ts'
import { full, tell, tellSkipped } from '../figure.ts'
import { claude } from './claude.ts'
import { codex } from './codex.ts'
import type { Absentee, Contestant } from './contestant.ts'
import { floor } from './floor.ts'
import { startModel } from './model.ts'
import { own } from './own.ts'
import { pi } from './pi.ts'
import { PEERS } from './pins.ts'
import { quartersFor } from './quarters.ts'
import { replaceTable } from './readme-table.ts'
import { fullSizes, measureRows, QUICK, ROWS } from './rows.ts'
import { absentLines, peersTable, relativeToBest, type Column } from './table.ts'
import { inScratch } from '../scratch.ts'

const sizes = full ? fullSizes(process.argv) : QUICK

await inScratch(async (folder) => {
  const { contestants, absentees } = await gather(folder)
  const model = await startModel(folder, contestants)
  try {
    const values = await measureRows(contestants, model, sizes)
    const columns = [...values].map(([contestant, measured]) => ({ contestant, values: measured }))
    tellRows(columns)
    for (const { name, version, skipped } of absentees) {
      tellSkipped(`peers: ${name} ${version}`, skipped)
    }
    await publish(columns, absentees)
  } finally {
    model.close()
  }
})

async function gather(folder: string) {
  const contestants: Contestant[] = []
  const absentees: Absentee[] = []
  contestants.push(await own(await quartersFor('hawser', folder)))
  for (const [name, peer] of Object.entries({ pi, codex, claude })) {
    try {
      contestants.push(await peer(await quartersFor(name, folder)))
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      const version = Object.entries(PEERS).find(([one]) => one === name)?.[1].version ?? ''
      absentees.push({ name, version, skipped: error.message })
    }
  }
  contestants.push(await floor(await quartersFor('floor', folder)))
  return { contestants, absentees }
}

function tellRows(columns: readonly Column[]): void {
  for (const { name, title, beats } of ROWS) {
    const ratio = beats ? relativeToBest(columns, name) : undefined
    if (ratio === undefined) continue
    const row = title.replace('CALLS', String(sizes.longCalls))
    tell({ bench: `peers: ${row}, relative to the best peer`, ratio, bar: '<= 1', more: {} })
  }
}

async function publish(columns: readonly Column[], absentees: readonly Absentee[]): Promise<void> {
  const calls = sizes.longCalls
  const machine = `${type()} ${release().split('-')[0]}, Node ${process.version}`
  const about = [`Medians of one run on ${new Date().toISOString().slice(0, 10)}: ${machine}.`]
  const notes = absentLines(absentees)
  const whole = [...about, ...notes, '', peersTable(columns, { spread: true, calls })]
  if (!full) {
    console.log(whole.join('\n'))
    return
  }
  const withoutFloor = columns.filter(({ contestant }) => contestant.name !== 'floor')
  const brief = [...about, ...notes, '', peersTable(withoutFloor, { spread: false, calls })]
  await replaceTable('bench/README.md', 'peers', whole)
  await replaceTable('README.md', 'peers', brief)
}
