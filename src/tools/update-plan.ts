import * as z from 'zod'
import { countOf } from '../encoding/amounts.ts'
import { interruptedOutcome } from './shown-lines.ts'
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts'

const Entry = z.strictObject({
  content: z.string().min(1).max(500).describe('What to do, in one sentence.'),
  status: z.enum(['pending', 'in_progress', 'completed']).describe('Progress.'),
  priority: z.enum(['high', 'medium', 'low']).optional().describe('Importance.'),
})

const Parameters = z.strictObject({
  entries: z.array(Entry).max(100).describe('The whole plan, in order; an empty list removes it.'),
})
type Args = z.infer<typeof Parameters>

export const updatePlan = defineTool({
  name: 'update_plan',
  description:
    'Shows the person your plan and progress. Pass the whole plan each time, with one entry in_progress, and mark an entry completed as soon as it is.',
  parameters: Parameters,
  claim: () => ({ tool: 'update_plan', effect: 'none', paths: [], network: false }),
  run,
})

async function run({ entries }: Args, { signal }: ToolContext): Promise<ToolOutcome> {
  if (signal.aborted) return interruptedOutcome()
  const done = entries.filter(({ status }) => status === 'completed').length
  return {
    outcome: 'ok',
    output: `The plan has ${countOf(entries.length, 'entry', 'entries')}, ${done} completed.\n`,
    record: [{ type: 'plan_updated', data: { entries } }],
  }
}
