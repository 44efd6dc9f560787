import * as z from 'zod'
import { escapeNotes, originalText } from '../encoding/note-tag.ts'
import { FILE_BYTES } from '../host/files/confined-write.ts'
import { changeFile, previewOf, tooLarge, wholeFile } from './file-change.ts'
import { interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type PreviewContext,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts'

const Parameters = z.strictObject({
  path: z.string().describe('Relative to the workspace.'),
  content: z.string().describe('The whole content of the file.'),
})
type Args = z.infer<typeof Parameters>

export const write = defineTool({
  name: 'write',
  description:
    'Creates a file, or replaces its whole content. Missing folders are created. To change part of a file use edit.',
  parameters: Parameters,
  claim: ({ path }) => ({ tool: 'write', effect: 'write', paths: [path], network: false }),
  preview,
  run,
})

async function preview(
  { path, content }: Args,
  context: PreviewContext,
): Promise<string | undefined> {
  const before = await wholeFile(path, context)
  return before.ok
    ? previewOf({ path, before: before.value, after: contentFor(before.value, content, context) })
    : undefined
}

async function run({ path, content }: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const size = Buffer.byteLength(content)
  const fits = size > FILE_BYTES ? tooLarge(path, size) : undefined
  const before = fits ?? (await wholeFile(path, context))
  if (!before.ok) return failedOutcome(before.error)
  const after = contentFor(before.value, content, context)
  return changeFile({ path, before: before.value, after }, context)
}

/** A request may show a file that contains the tag of notes with escapes, and the model writes it back as it was shown. */
function contentFor(
  before: Buffer | undefined,
  content: string,
  { escapesNotes }: PreviewContext,
): Buffer {
  if (!escapesNotes) return Buffer.from(content)
  const shown = before?.toString('utf8') ?? ''
  return Buffer.from(escapeNotes(shown) === shown ? content : originalText(content))
}
