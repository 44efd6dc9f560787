import { failed, ok, type Result } from '../../../model/errors.ts'
import { Effort } from '../../../model/settings.ts'
import { sentences } from '../screen/rows.ts'
import { visibleLine } from '../text/visible-text.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** Shows or changes the reasoning effort. The Event shows a change. */
export async function effortCommand(
  { session, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const { effort: own } = session.state
  if (argument === '') {
    const text = own === undefined ? 'No effort is set for this Session.' : `Effort: ${own}.`
    return ok({ rows: sentences(`${text} Levels: ${LEVELS}.`, { columns }) })
  }
  const chosen = Effort.safeParse(argument)
  if (!chosen.success) return failed('invalid_args', `Unknown effort. Expected ${LEVELS}.`)
  const set = await session.change({ effort: chosen.data })
  return set.ok ? ok({ rows: [] }) : set
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
