import type { ListedResource } from '../../../session/queries/resources.ts'
import { fileSize } from '../../../encoding/amounts.ts'
import type { Line, Style } from '../text/cell-width.ts'
import { cell, inColumns } from '../text/columns.ts'
import { extentOf, resourceName } from '../text/resource-words.ts'

/** The Resources of a Session in columns, with a header. */
export function resourceTable(listed: readonly ListedResource[]): Line[] {
  const header = COLUMNS.map((name) => cell(name, { dim: true }))
  return inColumns([header, ...listed.map(cellsOf)], ALIGN)
}

const COLUMNS = [
  'Handle',
  'Kind',
  'Size',
  'Extent',
  'Turn',
  'By',
  'State',
  'Bytes',
  'Shown',
  'Views',
  'Name',
]
const ALIGN = [
  'left',
  'left',
  'right',
  'right',
  'right',
  'left',
  'left',
  'left',
  'right',
  'right',
  'left',
] as const

/** Names vary in length, so this column is the last. */
const LONGEST_NAME = 60

function cellsOf(listed: ListedResource): Line[] {
  const { descriptor, turn, by, state, payload, shown, views } = listed
  const size = descriptor.kind === 'link' ? '-' : fileSize(descriptor.size_bytes)
  const extent = extentOf(descriptor)
  return [
    cell(descriptor.handle, { bold: true }),
    cell(descriptor.kind),
    cell(size),
    cell(extent === '' ? '-' : extent),
    cell(String(turn)),
    cell(by),
    cell(state, STATES[state]),
    cell(payload === 'none' ? '-' : payload, PAYLOADS[payload]),
    cell(String(shown)),
    cell(String(views)),
    cell(resourceName(descriptor), {}, LONGEST_NAME),
  ]
}

const STATES: Readonly<Record<ListedResource['state'], Style>> = {
  live: {},
  retired: { dim: true },
  dropped: { dim: true },
  quarantined: { colour: 'yellow' },
}

const PAYLOADS: Readonly<Record<ListedResource['payload'], Style>> = {
  present: {},
  missing: { colour: 'red' },
  damaged: { colour: 'red' },
  none: { dim: true },
}
