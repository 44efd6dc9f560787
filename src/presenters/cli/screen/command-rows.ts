import { countOf } from '../../../encoding/amounts.ts'
import type { EventData } from '../../../model/events/event.ts'
import type { Line } from '../text/cell-width.ts'
import { head, headAndTail, sentences, verbatim } from './rows.ts'

const MOST_COMMAND_ROWS = 10
/** More than of a model's command: the person ran it to see this. */
const MOST_OUTPUT_ROWS = 100
const INDENT = '  '

/** A command that the person runs. */
export function commandRows({ command }: EventData<'shell_command'>, columns: number): Line[] {
  const bold = { bold: true }
  const rows = verbatim(command, { columns, first: '! ', firstStyle: bold, style: bold })
  return [[], ...head(rows, MOST_COMMAND_ROWS, INDENT)]
}

/** The output of such a command, and how it ended unless it succeeded. */
export function commandResultRows(result: EventData<'shell_result'>, columns: number): Line[] {
  const { output, error, moved = [] } = result
  const setting = { columns, first: INDENT }
  const shown = output.replace(/\[exit code 0\]\n$/, '').replace(/\n$/, '')
  const warning = { ...setting, style: { colour: 'yellow' } } as const
  const aside = `${countOf(moved.length, 'protected path')} moved aside: ${moved.join(', ')}`
  return [
    ...(shown === ''
      ? []
      : headAndTail(verbatim(shown, setting), MOST_OUTPUT_ROWS, INDENT, 'Ctrl-O')),
    ...(error === undefined ? [] : head(sentences(error.message, warning), 4, INDENT)),
    ...(moved.length === 0 ? [] : head(sentences(aside, warning), 4, INDENT)),
  ]
}
