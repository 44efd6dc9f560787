// Hawser beside other agents: installs them from npm into a cache, and runs the same Turns of all of them, one after another in
// each round, with a model on loopback that answers at once. At full size it also writes the tables of bench/README.md and
// README.md. Nothing else is contacted, and their reports and updates are off.
import { readFile, writeFile } from 'node:fs/promises'
import { release, type } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { Unavailable } from '../test/clients/install.ts'
import { full, tell, tellSkipped } from './figure.ts'
import { claude } from './peers/claude.ts'
import { codex } from './peers/codex.ts'
import type { Absentee, Contestant } from './peers/contestant.ts'
import { floor } from './peers/floor.ts'
import { startModel } from './peers/model.ts'
import { own } from './peers/own.ts'
import { pi } from './peers/pi.ts'
import { PEERS } from './peers/pins.ts'
import { quartersFor } from './peers/quarters.ts'
import { FULL, measureRows, QUICK, ROWS } from './peers/rows.ts'
import { absentLines, peersTable, relativeToBest, type Column } from './peers/table.ts'
import { inScratch } from './scratch.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OPEN = '<!-- peers -->'
const CLOSE = '<!-- /peers -->'
const sizes = full ? FULL : QUICK

await inScratch(async (folder) => {
  const { contestants, absentees } = await gather(folder)
  const model = await startModel(folder, contestants)
  try {
    const values = await measureRows(contestants, model, sizes)
    const columns = [...values].map(([contestant, own]) => ({ contestant, values: own }))
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
  if (!full) return void console.log(whole.join('\n'))
  const withoutFloor = columns.filter(({ contestant }) => contestant.name !== 'floor')
  const brief = [...about, ...notes, '', peersTable(withoutFloor, { spread: false, calls })]
  await replaceBetween(join(ROOT, 'bench', 'README.md'), whole)
  await replaceBetween(join(ROOT, 'README.md'), brief)
}

async function replaceBetween(path: string, lines: readonly string[]): Promise<void> {
  const text = await readFile(path, 'utf8')
  const [head, rest] = text.split(OPEN)
  const tail = rest?.split(CLOSE)[1]
  if (head === undefined || tail === undefined)
    throw new Error(`${path} has no place for the table`)
  await writeFile(path, `${head}${OPEN}\n${lines.join('\n')}\n${CLOSE}${tail}`)
}
