import * as z from 'zod'
import { failed } from '../../../../model/errors.ts'
import { noSuchRule } from '../../../../session/live/session-rules.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import type { PERMISSIONS_REMOVE } from '../../definitions/permissions.ts'
import { ListedRule, listedRule, ruleWords } from '../../render/rule-lines.ts'
import { inWorkspace } from '../../world/workspace.ts'

export const Output = z.object({
  ok: z.literal(true),
  removed: ListedRule.describe('With the number it had.'),
})

/** Removes a rule of a workspace, by its number in the list. */
export const run: Run<typeof PERMISSIONS_REMOVE> = async (world, { args: [named], options }) =>
  inWorkspace(
    world,
    options,
    async ({ harness: { rules: store } }) => {
      if (!/^[1-9]\d{0,5}$/.test(named)) {
        return failed('invalid_args', `"${named}" is not the number of a rule.`, {}, [
          { action: 'List the rules.', command: 'hawser permissions' },
        ])
      }
      const stored = await store.read()
      if (!stored.ok) return stored
      const removed = stored.value.map(listedRule)[Number(named) - 1]
      if (removed === undefined) return noSuchRule(Number(named))
      const done = await store.remove(removed.rule)
      if (!done.ok) return done
      return answer(world, { removed }, () => `Removed: ${ruleWords(removed.rule)}\n`)
    },
    { make: true },
  )
