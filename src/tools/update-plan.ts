import * as z from 'zod'
import { counted } from '../encoding/amounts.ts'
import { interruptedOutcome } from './shown-lines.ts'
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts'

const Entry = z.strictObject({
  content: z.string().min(1).max(500).describe('What is to be done, in one sentence.'),
  status: z.enum(['pending', 'in_progress', 'completed']).describe('How far it is.'),
  priority: z.enum(['high', 'medium', 'low']).optional().describe('How much it matters.'),
})

const Parameters = z.strictObject({
  entries: z.array(Entry).max(100).describe('The whole plan, in order; none takes it away.'),
})
type Args = z.infer<typeof Parameters>

export const updatePlan = defineTool({
  name: 'update_plan',
  description:
    'Shows the person what you plan and how far you are. Give the whole plan each time. Use it for work of several steps, and keep one entry in progress.',
  parameters: Parameters,
  claim: () => ({ tool: 'update_plan', effect: 'none', paths: [], network: false }),
  run,
})

async function run({ entries }: Args, { signal }: ToolContext): Promise<ToolOutcome> {
  if (signal.aborted) return interruptedOutcome()
  const done = entries.filter(({ status }) => status === 'completed').length
  return {
    outcome: 'ok',
    output: `The plan has ${counted(entries.length, 'entry', 'entries')}, ${done} completed.\n`,
    record: [{ type: 'plan_updated', data: { entries } }],
  }
}
