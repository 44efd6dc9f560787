import * as z from 'zod'
import { descriptor as described } from '../prompt/words/resources.ts'
import type { AttachmentError } from '../model/attachment.ts'
import { failed } from '../model/errors.ts'
import { LIMITS } from '../model/limits.ts'
import { interruptedOutcome } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const Parameters = z.strictObject({
  path: z.string().describe('Relative to the workspace.'),
  title: z.string().max(200).optional().describe('What it shows, in a few words.'),
})
type Args = z.infer<typeof Parameters>

export const attach = defineTool({
  name: 'attach',
  description:
    'Attaches a file of the workspace to your answer, so that the person gets the file itself: an image, a PDF or text (.png .jpg .jpeg .gif .webp .pdf .txt .md .csv, at most 10 MiB). Its current content is kept, even if the file changes later.',
  parameters: Parameters,
  claim: ({ path }) => ({ tool: 'attach', effect: 'read', paths: [path], network: false }),
  run,
})

async function run(
  { path, title }: Args,
  { resources, signal }: ToolContext,
): Promise<ToolOutcome> {
  if (signal.aborted) return interruptedOutcome()
  const resolved = await resources.ingest(path)
  if (!resolved.ok) return failedOutcome(resolved.error)
  if (!resolved.value.ok) return refusedFile(resolved.value.error)
  const { facts } = resolved.value
  const noPlace = resources.attachable(facts)
  if (noPlace !== undefined) return refusedFile({ ...noPlace, name: facts.name })
  const titled = title === undefined ? {} : { title }
  const named = resources.name({ ...facts, ...titled })
  if (!named.ok) return failedOutcome(named.error)
  const descriptor = named.value
  return {
    outcome: 'ok',
    output: `Attached: ${described(descriptor, LIMITS.descriptor_bytes)}`,
    resources: [descriptor],
    record: [{ type: 'resource_ingested', data: { descriptor, origin: 'egress' } }],
  }
}

/** The outcome for a file that was not accepted. */
export function refusedFile({ code, name, reason, limit, actual }: AttachmentError): ToolOutcome {
  const figures = { code, ...(limit === undefined ? {} : { limit, actual }) }
  return failedOutcome(failed('attachments_failed', `${name}: ${reason}`, figures).error)
}
