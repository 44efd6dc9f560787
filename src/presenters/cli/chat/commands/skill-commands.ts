import { countOf } from '../../../../encoding/amounts.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { sentences, verbatim } from '../../screen/rows.ts'
import { skillSummary, usableSkill } from '../../render/skill-summary.ts'
import { lineLabel } from '../../text/skill-lines.ts'
import { visibleLine } from '../../text/visible-text.ts'
import type { Confirm } from '../../question/own-questions.ts'
import type {
  ChatSkill,
  ChatSkillList,
  CommandContext,
  CommandResult,
  TrustingSkills,
} from './command-context.ts'

/** `/skills` lists the Skills. `/skills trust NAME` shows what one may do, and asks whether to trust exactly that. */
export async function skills(
  { actions, columns, confirm }: CommandContext,
  argument: string,
): Promise<Result<CommandResult>> {
  if (argument === '') {
    const all = await actions.skills?.list()
    return ok({
      rows: [
        ...skillRows(all?.skills ?? [], columns),
        ...warningRows(all?.warnings ?? [], columns),
      ],
    })
  }
  const [, name] = /^trust\s+(\S+)$/.exec(argument) ?? []
  if (name === undefined) return failed('invalid_args', 'Use /skills, or /skills trust NAME.')
  const text = await actions.skills?.trusting((store) => trustSkill(store, name, confirm))
  if (text === undefined || !text.ok) return text ?? ok({ rows: [] })
  return ok({ rows: verbatim(text.value, { columns }) })
}

/** Only what was shown is trusted: a file that changed meanwhile has another hash. */
async function trustSkill(
  store: Parameters<Parameters<TrustingSkills>[0]>[0],
  name: string,
  confirm: Confirm,
): Promise<Result<string>> {
  const examined = await usableSkill(store, name)
  if (!examined.ok) return examined
  const { trust, isChanged, sha256 } = examined.value
  if (trust === 'user') return ok(`${name} is your own Skill and needs no trust.`)
  if (trust === 'trusted') return ok(`${name} is already trusted.`)
  const yes = await confirm({
    title: `Trust the Skill ${name}, as it is now, in this workspace?`,
    lines: skillSummary(examined.value),
    reason: isChanged
      ? 'it comes with this repository and changed since it was trusted'
      : 'it comes with this repository',
  })
  if (!yes) return ok(`${name} is not trusted.`)
  const done = await store.trust(name, sha256)
  return done.ok ? ok(`Trusted ${name}. /reload shows it to the model; /${name} works now.`) : done
}

function skillRows(all: readonly ChatSkill[], columns: number) {
  if (all.length === 0) return sentences('No Skills.', { columns })
  const rows = all.flatMap((skill) => verbatim(skillWords(skill), { columns, first: '  ' }))
  const how = sentences('/NAME or $NAME in a message activates one for its Turn.', {
    columns,
    style: { dim: true },
  })
  return [[], ...rows, ...how]
}

const MOST_WARNINGS = 50

/** What is wrong with the Skills on disk; the first warnings, if there are many. */
function warningRows(warnings: ChatSkillList['warnings'], columns: number) {
  const more = warnings.length - MOST_WARNINGS
  return [
    ...warnings
      .slice(0, MOST_WARNINGS)
      .flatMap(({ path, line, message }) =>
        verbatim(`Warning: ${lineLabel(path, line)}: ${visibleLine(message)}`, { columns }),
      ),
    ...(more > 0 ? sentences(`${countOf(more, 'more warning')}.`, { columns }) : []),
  ]
}

function skillWords(skill: ChatSkill): string {
  const { name, description, trust, changed, root, context_sources } = skill
  const sources = context_sources.map(({ id }) => id)
  return [
    name,
    ...(description === '' ? [] : [visibleLine(description)]),
    trust === 'untrusted'
      ? `${changed === true ? 'changed since it was trusted' : 'not trusted'}: /skills trust ${name}`
      : `${trust}, ${root}`,
    ...(sources.length === 0 ? [] : [`context sources: ${sources.join(', ')}`]),
  ].join(' · ')
}

/** Takes over the Skills and tools on disk. */
export async function reload({ session, columns }: CommandContext): Promise<Result<CommandResult>> {
  const change = await session.reload()
  if (!change.ok) return change
  const text =
    change.value === undefined
      ? 'Nothing to reload: this Session already has the current Skills and tools.'
      : `Reloaded: ${change.value}. The next request is not served from the prompt cache.`
  return ok({ rows: sentences(text, { columns }) })
}
