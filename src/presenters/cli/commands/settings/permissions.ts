import * as z from 'zod'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { PERMISSIONS } from '../../definitions/permissions.ts'
import { ListedRule, listedRule, ruleLine } from '../../render/rule-lines.ts'
import { inWorkspace } from '../../world/workspace.ts'

export const Output = z.object({
  ok: z.literal(true),
  workspace: z.string(),
  rules: z.array(ListedRule).describe('In the order they were made.'),
})

/** Lists the permission rules of a workspace. */
export const run: Run<typeof PERMISSIONS> = async (world, input) =>
  inWorkspace(
    world,
    input.options,
    async ({ harness: { rules: store, workspace } }) => {
      const stored = await store.read()
      if (!stored.ok) return stored
      const rules = stored.value.map(listedRule)
      const lines = () => (rules.length === 0 ? NONE : rules.map(ruleLine).join(''))
      return answer(world, { workspace, rules }, lines)
    },
    { make: true },
  )

const NONE = 'No permission rules in this workspace. To add one: hawser permissions allow --help\n'
