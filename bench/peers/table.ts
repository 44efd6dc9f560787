import { median, quantile } from '../figure.ts'
import type { Absentee, Contestant } from './contestant.ts'
import { ROWS, type RowName, type Values } from './rows.ts'

/** One column of the table; without values, the contestant could not take part. */
export interface Column {
  readonly contestant: Pick<Contestant, 'name' | 'version'>
  readonly values?: Values
}

/** The table as Markdown: medians, quartiles in brackets if `spread`, and the least of each row, except the floor's, in bold. */
export function peersTable(
  columns: readonly Column[],
  { spread, calls }: { readonly spread: boolean; readonly calls: number },
): string {
  const present = columns.filter(({ values }) => values !== undefined)
  const rows = ROWS.map(({ name, title }) => {
    const least = Math.min(...present.filter(isRanked).map((column) => medianOf(column, name)))
    return [
      title.replace('CALLS', calls.toLocaleString('en')),
      ...present.map((column) => {
        const value = medianOf(column, name)
        const text = value === least && isRanked(column) ? `**${short(value)}**` : short(value)
        return spread ? `${text} (${quartiles(column.values?.[name] ?? [])})` : text
      }),
    ]
  })
  const heads = present.map(({ contestant: { name, version } }) => `${name} ${version}`)
  const lines = [['', ...heads], ['', ...heads].map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** What is said of those that could not take part. */
export function absentLines(absentees: readonly Absentee[]): readonly string[] {
  return absentees.map(
    ({ name, version, skipped }) => `${name} ${version} was skipped: ${skipped}.`,
  )
}

/** Hawser's median relative to the least median of the peers; `undefined` without peers. */
export function relativeToBest(columns: readonly Column[], row: RowName): number | undefined {
  const ranked = columns.filter(({ values }) => values !== undefined).filter(isRanked)
  const [own, ...peers] = ranked.toSorted((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
  if (own === undefined || !isOwn(own) || peers.length === 0) return undefined
  return medianOf(own, row) / Math.min(...peers.map((peer) => medianOf(peer, row)))
}

function medianOf({ values }: Column, row: RowName): number {
  return median(values?.[row] ?? [])
}

function isOwn({ contestant }: Column): boolean {
  return contestant.name === 'Hawser'
}

function isRanked({ contestant }: Column): boolean {
  return contestant.name !== 'floor'
}

function quartiles(values: readonly number[]): string {
  return [0.25, 0.75].map((q) => short(quantile(values, q))).join('–')
}

/** Three digits. */
function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}
