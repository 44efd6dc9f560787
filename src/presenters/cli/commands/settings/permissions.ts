import * as z from 'zod'
import { ok } from '../../../../model/errors.ts'
import { answer } from '../../world/answer.ts'
import type { CommandInput } from '../../world/command.ts'
import { ListedRule, listedRule, ruleLine } from '../../render/rule-lines.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

const PermissionsArgs = z.object({ options: z.object({ json: z.boolean().default(false) }) })

export const Output = z.object({
  ok: z.literal(true),
  workspace: z.string(),
  rules: z.array(ListedRule).describe('In the order they were made.'),
})

/** Lists the permission rules of a workspace. */
export async function run(world: CliWorld, commandInput: CommandInput): Promise<number> {
  const { json } = PermissionsArgs.parse(commandInput).options
  return inWorkspace(
    world,
    commandInput,
    async ({ harness: { rules: store, workspace } }) => {
      const stored = await store.read()
      if (!stored.ok) return stored
      const rules = stored.value.map(listedRule)
      const lines = () => (rules.length === 0 ? NONE : rules.map(ruleLine).join(''))
      return ok(answer(world, json, { workspace, rules }, lines))
    },
    { make: true },
  )
}

const NONE = 'No permission rules in this workspace. To add one: hawser permissions allow --help\n'
