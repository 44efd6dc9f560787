import { failed, ok, type Result } from '../../../model/errors.ts'
import { sentences, verbatim } from '../screen/rows.ts'
import type { ChatSkill, CommandContext, CommandResult } from './command-context.ts'

/** `/skills` lists the Skills; `/skills trust NAME` trusts the current content of one. */
export async function skills(
  { actions, columns }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument === '') return ok({ rows: listed((await actions.skills?.list()) ?? [], columns) })
  const name = /^trust\s+(\S+)$/.exec(argument)?.[1]
  if (name === undefined) return failed('invalid_args', 'Use /skills, or /skills trust NAME.')
  const trusted = await actions.skills?.trust?.(name)
  if (trusted === undefined)
    return failed('invalid_args', 'Trusting a Skill is not supported in this version.')
  if (!trusted.ok) return trusted
  const text = `Skill ${name} is trusted in this workspace until its SKILL.md changes. /reload shows it to the model.`
  return ok({ rows: sentences(text, { columns }) })
}

function listed(all: readonly ChatSkill[], columns: number) {
  if (all.length === 0) return sentences('No Skills.', { columns })
  const rows = all.flatMap((skill) => verbatim(skillWords(skill), { columns, first: '  ' }))
  const how = sentences('/NAME or $NAME in a message activates one for its Turn.', {
    columns,
    style: { dim: true },
  })
  return [[], ...rows, ...how]
}

function skillWords({ name, description, trust, root, context_sources }: ChatSkill): string {
  const sources = context_sources.map(({ id }) => id)
  return [
    name,
    ...(description === '' ? [] : [description]),
    trust === 'untrusted' ? `not trusted: /skills trust ${name}` : `${trust}, ${root}`,
    ...(sources.length === 0 ? [] : [`context sources: ${sources.join(', ')}`]),
  ].join(' · ')
}

/** Takes over the Skills and tools on disk. */
export async function reload({
  actions,
  session,
  columns,
}: CommandContext): Promise<Result<CommandResult>> {
  const change = await actions.reload?.(session)
  if (change === undefined) return ok({ rows: [] })
  if (!change.ok) return change
  const text =
    change.value === undefined
      ? 'Nothing to reload: this Session already has the current Skills and tools.'
      : `Reloaded: ${change.value}. The next request is not served from the prompt cache.`
  return ok({ rows: sentences(text, { columns }) })
}
