import * as z from 'zod'
import { Rule } from '../../../../model/rule.ts'
import { ruleFromOptions } from '../../../../session/settings/rule-options.ts'
import type { PERMISSIONS_ALLOW, PERMISSIONS_DENY } from '../../definitions/permissions.ts'
import { ruleWords } from '../../render/rule-lines.ts'
import { answer } from '../../world/answer.ts'
import type { Run } from '../../world/command.ts'
import { inWorkspace } from '../../world/workspace.ts'

export const Output = z.object({ ok: z.literal(true), rule: Rule })

/** Adds a rule to a workspace. */
export const run: Run<typeof PERMISSIONS_ALLOW | typeof PERMISSIONS_DENY> = async (
  world,
  { options: { json: _json, workspace, ...ruleOptions } },
  { answer: ruleAnswer },
) =>
  inWorkspace(
    world,
    { workspace },
    async ({ harness: { rules: store } }) => {
      const rule = ruleFromOptions(ruleOptions, ruleAnswer)
      if (!rule.ok) return rule
      const added = await store.add(rule.value)
      if (!added.ok) return added
      return answer(world, { rule: rule.value }, () => `Added: ${ruleWords(rule.value)}\n`)
    },
    { make: true },
  )
