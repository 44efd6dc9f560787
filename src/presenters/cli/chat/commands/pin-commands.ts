import { failed, ok, type Result } from '../../../../model/errors.ts'
import { pinLines } from '../../render/pin-lines.ts'
import { sentences, verbatim } from '../../screen/rows.ts'
import type { CommandContext, CommandResult } from './command-context.ts'

/** `/pin TEXT` pins text, which its Event shows; `/pin` lists the pinned texts with their numbers. */
export async function pin(
  { session, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument !== '') return quiet(await session.pin(argument))
  const pinned = await session.pinnedTexts()
  if (pinned.length === 0)
    return ok({ rows: sentences('No pinned text. To pin one: /pin TEXT.', { columns }) })
  const rows = pinLines(pinned).flatMap((line) => verbatim(line, { columns }))
  const how = sentences('/unpin NUMBER removes one.', { columns, style: { dim: true } })
  return ok({ rows: [[], ...rows, ...how] })
}

/** `/unpin NUMBER` removes a pin, which its Event shows; with one pin, the number can be omitted. */
export async function unpin(
  { session }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  const only = (await session.pinnedTexts()).length === 1 && argument === ''
  if (!only && !/^[1-9]\d{0,5}$/.test(argument))
    return failed('invalid_args', 'Expected the number of a pin: /unpin NUMBER. /pin lists them.')
  return quiet(await session.unpin(only ? 1 : Number(argument)))
}

function quiet(done: Result<unknown>): Result<CommandResult> {
  return done.ok ? ok({ rows: [] }) : done
}
