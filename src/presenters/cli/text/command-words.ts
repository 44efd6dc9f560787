import { countOf, groupDigits } from '../../../encoding/amounts.ts'
import type { EventData } from '../../../model/events/event.ts'
import { visibleLine } from './visible-text.ts'

/** How a command of the person ended, and what it left. Visible text. */
export function commandFacts(result: EventData<'shell_result'>): string[] {
  const { outcome, exit_code, error, duration_ms, truncated, moved = [] } = result
  return [
    outcome,
    ...(exit_code === undefined ? [] : [`exit code ${exit_code}`]),
    ...(error === undefined ? [] : [`${error.kind}: ${visibleLine(error.message)}`]),
    `${groupDigits(Math.round(duration_ms))} ms`,
    ...(truncated === true ? ['truncated'] : []),
    ...(moved.length === 0 ? [] : [`${countOf(moved.length, 'protected path')} moved aside`]),
  ]
}

/** The commands that a message shows to the model. Visible text. */
export function commandLines({
  shell = [],
  shell_omitted = 0,
}: Pick<EventData<'user_message'>, 'shell' | 'shell_omitted'>): string[] {
  return [
    ...(shell_omitted === 0 ? [] : [`${countOf(shell_omitted, 'earlier command')} omitted`]),
    ...shell.map(({ command, outcome }) => {
      const [first = '', ...more] = command.split('\n')
      return `! ${visibleLine(first)}${more.length === 0 ? '' : ' …'} · ${outcome}`
    }),
  ]
}
