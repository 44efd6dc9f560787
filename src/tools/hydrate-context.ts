import * as z from 'zod'
import { countOf } from '../encoding/amounts.ts'
import { failed } from '../model/errors.ts'
import { interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type HydrationOutcome,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts'

const Parameters = z.strictObject({
  skill: z.string().describe('An active Skill.'),
  context_source_id: z.string().describe('One that it declares.'),
  args: z
    .record(z.string(), z.union([z.string(), z.int()]))
    .optional()
    .describe('By name.'),
})
type Args = z.infer<typeof Parameters>

export const hydrateContext = defineTool({
  name: 'hydrate_context',
  description:
    'Fetches current facts from a context source that an active Skill declares. They follow the result until the Turn ends.',
  parameters: Parameters,
  // It decides about each source itself, by what the source does.
  claim: () => ({ tool: 'hydrate_context', effect: 'read', paths: [], network: false }),
  run,
})

async function run(
  { skill, context_source_id: id, args }: Args,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const hydrated = await context.skills.hydrate({ skill, id, args })
  if (!hydrated.ok) return failedOutcome(hydrated.error)
  const { status, record } = hydrated.value
  if (status === 'ok') return { outcome: 'ok', output: followingText(hydrated.value), record }
  const { error = failed('hydration_failed', 'Nothing was fetched.').error, bytes } = hydrated.value
  const output = bytes === 0 ? error.message : `${error.message} ${followingText(hydrated.value)}`
  return { outcome: status === 'denied' ? 'denied' : 'failed', error, output, record }
}

function followingText({ bytes }: HydrationOutcome): string {
  return bytes === 0 ? 'Done.' : `${countOf(bytes, 'byte')} follow.`
}
