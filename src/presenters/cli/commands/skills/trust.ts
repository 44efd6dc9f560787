import * as z from 'zod'
import { quoted } from '../../../../encoding/quote.ts'
import { ContextSource } from '../../../../model/context-source.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { Sha256 } from '../../../../model/ids.ts'
import type { InstalledSkills } from '../../../../session/workspace/installed-skills.ts'
import { unlessSure } from '../../input/trust-confirmation.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput } from '../../world/command.ts'
import { inSkills } from '../../world/skills-place.ts'
import type { CliWorld } from '../../world/world.ts'

const TrustArgs = z.object({
  args: z.tuple([z.string()]),
  options: z.object({ yes: z.boolean().default(false), json: z.boolean().default(false) }),
})

export const Output = z.object({
  ok: z.literal(true),
  name: z.string(),
  path: z.string().describe('Of its SKILL.md.'),
  sha256: Sha256.describe('Of the SKILL.md that is trusted now.'),
  changed: z.boolean().describe('False if it needs no trust, or has it already.'),
  context_sources: z.array(ContextSource),
  allowed_tools: z.array(z.string()),
})

/** Trusts the content of a Skill of the repository in this workspace, after showing what it may do. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const {
    args: [name],
    options: { yes, json },
  } = TrustArgs.parse(commandInput)
  return inSkills(world, commandInput, async (installed) => {
    const shown = await usable(installed, name)
    if (!shown.ok) return shown
    const { path, sha256, trust, fields } = shown.value
    const { context_sources, allowed_tools } = fields
    const output = { name, path, sha256, context_sources, allowed_tools }
    if (trust !== 'untrusted') {
      const why = trust === 'user' ? 'is your own Skill and needs no trust' : 'is already trusted'
      return ok(answer(world, json, { ...output, changed: false }, () => `${name} ${why}.\n`))
    }
    const refused = await unlessSure(world, yes, {
      summary: summaryOf(shown.value),
      question: 'Trust this Skill, as it is now, in this workspace?',
      command: `hawser skills trust ${name} --yes`,
    })
    if (refused !== undefined) return refused
    // Only what was shown is trusted: a file that changed since has another hash.
    const trusted = await installed.trust(name, sha256)
    if (!trusted.ok) return trusted
    const words = () => `Trusted ${name}. To use it: hawser chat, then /${name}\n`
    return ok(answer(world, json, { ...output, changed: true }, words))
  })
}

type Examined = Extract<Awaited<ReturnType<InstalledSkills['examine']>>, { ok: true }>['value']
type Usable = Examined & { readonly fields: NonNullable<Examined['fields']> }

async function usable(installed: InstalledSkills, name: string): Promise<Result<Usable>> {
  const examined = await installed.examine(name)
  if (!examined.ok) return examined
  const { fields, findings, path } = examined.value
  if (fields !== undefined) return ok({ ...examined.value, fields })
  const first = findings.find(({ severity }) => severity === 'error')
  const why = first === undefined ? '' : ` Line ${first.line}: ${first.message}`
  return failed('unreadable', `The Skill ${quoted(name)} is not usable.${why}`, { path }, [
    { action: 'See all errors.', command: `hawser skills check ${quoted(path)}` },
  ])
}

function summaryOf({ name, path, sha256, fields }: Usable): string {
  const { description, context_sources, allowed_tools } = fields
  const facts = [
    ['file', path],
    ['sha256', sha256],
    ['description', description],
    ['permits without asking', allowed_tools.length === 0 ? 'nothing' : allowed_tools.join(', ')],
    ...context_sources.map((source) => [`context source ${source.id}`, originOf(source)] as const),
  ] as const
  const lines = facts.map(([label, value]) => `  ${label}: ${visibleLine(value)}\n`)
  return `The Skill ${name} of this repository gives the model instructions:\n${lines.join('')}`
}

/** What a source reads or runs, with every argument apart. */
function originOf({ from, auto }: Usable['fields']['context_sources'][number]): string {
  const when = auto === true ? ', with every activation' : ''
  switch (from.kind) {
    case 'command':
      return `runs ${from.argv.map(quoted).join(' ')}${when}`
    case 'file':
      return `reads the file ${quoted(from.path)}${when}`
    case 'resource_view':
      return `shows the Resource ${quoted(from.handle)}${when}`
    case 'presenter':
      return `takes the fact ${quoted(from.fact)} of the presenter${when}`
    case 'tool':
      return `calls the tool ${from.name} with ${JSON.stringify(from.arguments)}${when}`
  }
}
