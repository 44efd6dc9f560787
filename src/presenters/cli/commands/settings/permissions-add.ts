import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import { Rule } from '../../../../model/rule.ts'
import { ruleFromOptions } from '../../../../session/settings/rule-options.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import { ruleWords } from '../../render/rule-lines.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

const PermissionsAddArgs = z.object({
  options: z.object({
    prefix: z.string().optional(),
    command: z.string().optional(),
    in: z.string().optional(),
    file: z.string().optional(),
    folder: z.string().optional(),
    json: z.boolean().default(false),
  }),
})

export const Output = z.object({ ok: z.literal(true), rule: Rule })

/** Adds a rule to a workspace. */
export function runWith(ruleAnswer: Rule['answer']): Run {
  return (world, commandInput) => add(world, commandInput, ruleAnswer)
}

async function add(
  world: CliWorld,
  commandInput: CommandInput,
  ruleAnswer: Rule['answer'],
): Promise<number> {
  const { json, ...ruleOptions } = PermissionsAddArgs.parse(commandInput).options
  return inWorkspace(
    world,
    commandInput,
    async ({ harness: { rules: store } }) => {
      const rule = ruleFromOptions(ruleOptions, ruleAnswer)
      if (!rule.ok) return rule
      const added = await store.add(rule.value)
      if (!added.ok) return added
      return ok(
        answer(world, json, { rule: rule.value }, () => `Added: ${ruleWords(rule.value)}\n`),
      )
    },
    { make: true },
  )
}
