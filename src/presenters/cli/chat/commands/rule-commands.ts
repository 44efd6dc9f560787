import { failed, ok, type Result } from '../../../../model/errors.ts'
import { ruleWords } from '../../render/rule-lines.ts'
import type { CommandResult, CommandContext } from './command-context.ts'
import { sentences, verbatim } from '../../screen/rows.ts'

/** `/permissions` lists the rules in force; `/permissions remove NUMBER` removes one. */
export async function permissions(
  { session, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument === '') return listRules({ session, columns })
  const number = /^remove\s+([1-9]\d{0,5})$/.exec(argument)?.[1]
  if (number === undefined) {
    return failed('invalid_args', 'Use /permissions, or /permissions remove NUMBER.')
  }
  const removed = await session.rules.remove(Number(number))
  if (!removed.ok) return removed
  return ok({ rows: sentences(`Removed: ${ruleWords(removed.value.rule)}`, { columns }) })
}

async function listRules({
  session,
  columns,
}: Pick<CommandContext, 'session' | 'columns'>): Promise<Result<CommandResult>> {
  const rules = await session.rules.list()
  if (!rules.ok) return rules
  if (rules.value.length === 0) return ok({ rows: sentences('No permission rules.', { columns }) })
  const rows = rules.value.flatMap(({ rule, scope }, at) =>
    verbatim(`${ruleWords(rule)} · ${SCOPES[scope]}`, {
      columns,
      first: `${String(at + 1).padStart(3)}  `,
    }),
  )
  const how = sentences('/permissions remove NUMBER removes one.', {
    columns,
    style: { dim: true },
  })
  return ok({ rows: [[], ...rows, ...how] })
}

const SCOPES = { session: 'until this process ends', workspace: 'for this workspace' } as const
