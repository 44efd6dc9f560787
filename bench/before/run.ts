// This commit beside an earlier one: `npm run bench -- before [COMMIT] [--quick] [--calls=NUMBER] [--write]`. Runs the rows of `peers`
// of both, on this Node and on a newer one, with and without extra CA certificates, one after another in each round, and prints a
// table beside the floor. Certificates are read at the start, so only those without them have the long Turn. `--write` stores it.
import { writeFile } from 'node:fs/promises'
import { release, type } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { rootCertificates } from 'node:tls'
import { NEWER_NODE } from '../../test/support/npm/pin.ts'
import { median, medianRatio } from '../figure.ts'
import { cachedPackages } from '../peers/cached-packages.ts'
import type { Contestant } from '../peers/contestant.ts'
import { floor } from '../peers/floor.ts'
import { startModel } from '../peers/model.ts'
import { hawser } from '../peers/own.ts'
import { quartersFor } from '../peers/quarters.ts'
import { replaceTable } from '../peers/readme-table.ts'
import { fullSizes, measureRows, QUICK, ROWS, type RowName, type Values } from '../peers/rows.ts'
import { builtProgram } from '../program.ts'
import { inScratch } from '../scratch.ts'
import { builtCommit } from './built-commit.ts'

const args = process.argv.slice(2)
const sizes = args.includes('--quick') ? QUICK : fullSizes(args)
const before = await builtCommit(args.find((arg) => !arg.startsWith('--')) ?? '13dbc4a5')

/** How both are run. Starts need at most this part of the time before. */
interface Way {
  readonly title: string
  readonly node: string
  readonly env: Readonly<Record<string, string>>
  readonly startBar: number
}

await inScratch(async (folder) => {
  const pairs: { way: Way; was: Contestant; is: Contestant }[] = []
  for (const way of await ways(folder)) {
    const at = async (name: string, version: string, program: string) =>
      hawser(
        { ...way, name: `${name}${pairs.length}`, version, program },
        await quartersFor(`${name}${pairs.length}`, folder),
      )
    const was = await at('before', before.commit, before.program)
    pairs.push({ way, was, is: await at('after', 'this', await builtProgram()) })
  }
  const bare = await floor(await quartersFor('floor', folder))
  const contestants = [...pairs.flatMap(({ was, is }) => [was, is]), bare]
  const model = await startModel(folder, contestants)
  try {
    const plain = pairs.filter(({ way }) => Object.keys(way.env).length === 0)
    const long = new Set([...plain.flatMap(({ was, is }) => [was, is]), bare])
    const values = await measureRows(contestants, model, sizes, (one) => long.has(one))
    const columns = pairs.map(({ way, was, is }) => column(way, values, was, is))
    const lines = table([...columns, floorColumn(bare, values)])
    console.log(lines.join('\n'))
    if (args.includes('--write')) await replaceTable('bench/README.md', 'before', lines)
  } finally {
    model.close()
  }
})

async function ways(folder: string): Promise<readonly Way[]> {
  const certificates = join(folder, 'certificates.pem')
  await writeFile(certificates, rootCertificates.join('\n'))
  const newer = join(await cachedPackages([NEWER_NODE]), NEWER_NODE.name, 'bin', 'node')
  return [
    { node: process.execPath, version: process.version, startBar: 0.75 },
    { node: newer, version: `v${NEWER_NODE.version}`, startBar: 0.68 },
  ].flatMap(({ version, ...way }) => [
    { ...way, title: `Node ${version}`, env: {} },
    {
      ...way,
      title: `Node ${version}, extra CA file`,
      env: { NODE_EXTRA_CA_CERTS: certificates },
    },
  ])
}

interface Column {
  readonly title: string
  readonly cell: (row: RowName) => string
}

function column(
  { title, startBar }: Way,
  values: ReadonlyMap<Contestant, Values>,
  was: Contestant,
  is: Contestant,
): Column {
  return {
    title,
    cell: (row) => {
      const [old, own] = [values.get(was)?.[row] ?? [], values.get(is)?.[row] ?? []]
      if (own.length === 0) return ''
      const ratio = medianRatio(own, old)
      const bar = row === 'start' ? ` of ${startBar}` : ''
      return `${short(median(old))} \u2192 ${short(median(own))} (${ratio.toFixed(2)}${bar})`
    },
  }
}

function floorColumn(bare: Contestant, values: ReadonlyMap<Contestant, Values>): Column {
  return {
    title: `floor ${bare.version}`,
    cell: (row) => short(median(values.get(bare)?.[row] ?? [])),
  }
}

function table(columns: readonly Column[]): readonly string[] {
  const rows = ROWS.map(({ name, title }) => [
    title.replace('CALLS', sizes.longCalls.toLocaleString('en')),
    ...columns.map(({ cell }) => cell(name)),
  ])
  const heads = ['', ...columns.map(({ title }) => title)]
  const about = `Medians of ${before.commit} and of this commit, and the median of their ratios`
  const machine = `${type()} ${release().split('-')[0]}, ${new Date().toISOString().slice(0, 10)}`
  const lines = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return [`${about}: ${machine}.`, '', ...lines]
}

/** Three digits. */
function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}
