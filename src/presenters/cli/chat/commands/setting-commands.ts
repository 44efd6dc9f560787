import { failed, ok, type Result } from '../../../../model/errors.ts'
import { Effort } from '../../../../model/settings.ts'
import type { PickerOrder } from '../../pick/picker.ts'
import { sentences } from '../../screen/rows.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Shows or changes the reasoning effort. The Event shows a change. */
export async function effortCommand(
  { session, pick }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const level = argument === '' ? await pick(effortOrder(session.state.effort)) : argument
  if (level === undefined) return ok({ rows: [] })
  const chosen = Effort.safeParse(level)
  if (!chosen.success) return failed('invalid_args', `Unknown effort. Expected ${LEVELS}.`)
  const set = await session.change({ effort: chosen.data })
  return set.ok ? ok({ rows: [] }) : set
}

/** The levels of all vendors, the current one chosen. Pure. */
function effortOrder(own: string | undefined): PickerOrder<string> {
  const levels = Effort.options
  return {
    title: own === undefined ? 'Reasoning effort (not set)' : `Reasoning effort (now ${own})`,
    first: Math.max(
      0,
      levels.findIndex((level) => level === own),
    ),
    choices: levels.map((level) => ({ value: level, name: level })),
    preview: () => ['A model that does not have a level refuses it.'],
  }
}

const LEVELS = Effort.options.join(', ')

/** Shows or changes the title of the Session. The Event shows a change. */
export async function titleCommand(
  { session, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument === '') {
    const text = session.state.title === '' ? 'No title yet.' : session.state.title
    return ok({ rows: sentences(visibleLine(text), { columns }) })
  }
  const set = await session.change({ title: argument })
  return set.ok ? ok({ rows: [] }) : set
}
