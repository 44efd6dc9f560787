import type { EventData } from '../../../model/events/event.ts'
import type { Line } from '../text/cell-width.ts'
import { visibleLine } from '../text/visible-text.ts'
import { aside, oneRow, sentences } from './rows.ts'

type PlanEntries = EventData<'plan_updated'>['entries']

/** A plan as a checklist. With `most`, finished steps are left out first, then the last ones. Pure. */
export function planRows(entries: PlanEntries, columns: number, most = Infinity): Line[] {
  const done = entries.filter(({ status }) => status === 'completed').length
  const isLong = entries.length > most
  const shown = isLong ? entries.filter(({ status }) => status !== 'completed') : entries
  const rows = shown.slice(0, most).flatMap(({ content, status }): Line[] => {
    const style =
      status === 'completed' ? { dim: true } : status === 'in_progress' ? { bold: true } : {}
    const setting = { columns, first: PLAN_MARKS[status], style, firstStyle: style }
    return most === Infinity ? sentences(visibleLine(content), setting) : [oneRow(content, setting)]
  })
  const more = Math.max(0, shown.length - most)
  const note = [
    ...(isLong && done > 0 ? [`${done} done`] : []),
    ...(more > 0 ? [`${more} more`] : []),
  ]
  return note.length === 0 ? rows : [...rows, aside(`[… ${note.join(', ')}]`)]
}

const PLAN_MARKS = { pending: '[ ] ', in_progress: '[>] ', completed: '[x] ' } as const
