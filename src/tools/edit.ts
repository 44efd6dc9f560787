import * as z from 'zod'
import { isJsonObject, parseJson } from '../encoding/json.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { failed, type Failed } from '../model/errors.ts'
import { changeFile, previewOf, wholeFile } from './file-change.ts'
import { replaceTexts } from './replacements.ts'
import { interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type PreviewContext,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts'

const MOST_EDITS = 100

const Edit = z.strictObject({
  old_text: z
    .string()
    .describe('Exact text to replace, without the line number and tab that read shows.'),
  new_text: z.string().describe('Replacement; empty to delete.'),
  replace_all: z.boolean().optional().describe('Replace every occurrence.'),
})

const Parameters = z.strictObject({
  path: z.string().describe('Relative to the workspace.'),
  edits: z
    .array(Edit)
    .min(1)
    .max(MOST_EDITS)
    .check(({ value, issues }) => {
      for (const [at, { old_text, new_text }] of value.entries()) {
        const wrong = old_text === '' ? EMPTY : old_text === new_text ? SAME : undefined
        if (wrong === undefined) continue
        issues.push({ code: 'custom', input: value, message: `edit ${at + 1}: ${wrong}` })
      }
    })
    .describe('Such as [{"old_text": "a = 1", "new_text": "a = 2"}].'),
})
type Args = z.infer<typeof Parameters>

const EMPTY = 'old_text is empty; quote the text next to the place, or use write for a new file'
const SAME = 'old_text and new_text are the same, so nothing would change'

export const edit = defineTool({
  name: 'edit',
  description:
    'Replaces text in one file; all edits apply or none. Read the file first. Each old_text must match the file as it was before the call exactly once, white space included: add lines around it until it is unique, or set replace_all. Edits must not overlap. For a new file use write.',
  parameters: Parameters,
  arrange,
  claim: ({ path }) => ({ tool: 'edit', effect: 'write', paths: [path], network: false }),
  preview,
  run,
})

/**
 * A Session keeps the surface that it started with, and earlier surfaces offered a single replacement next to the path. Some
 * models write the list as a JSON string.
 */
function arrange(args: unknown): unknown {
  if (!isJsonObject(args)) return args
  const { edits, old_text, new_text, replace_all, ...rest } = args
  if (typeof edits === 'string') return { ...args, edits: parseJson(edits) ?? edits }
  if (edits !== undefined || old_text === undefined) return args
  const all = replace_all === undefined ? {} : { replace_all }
  return { ...rest, edits: [{ old_text, new_text, ...all }] }
}

async function preview({ path, edits }: Args, context: PreviewContext) {
  const before = await wholeFile(path, context)
  if (!before.ok || before.value === undefined) return undefined
  const { redactor, escapesNotes } = context
  const file = { path, bytes: before.value, redactor, escapesNotes }
  const replaced = replaceTexts(file, edits)
  return replaced.ok
    ? previewOf({ path, before: before.value, after: replaced.value.bytes })
    : undefined
}

async function run({ path, edits }: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const before = await wholeFile(path, context)
  if (!before.ok) return failedOutcome(before.error)
  if (before.value === undefined) return failedOutcome(absent(path).error)
  const { redactor, escapesNotes } = context
  const file = { path, bytes: before.value, redactor, escapesNotes }
  const replaced = replaceTexts(file, edits)
  if (!replaced.ok) return failedOutcome(replaced.error)
  const { bytes, count } = replaced.value
  return changeFile({ path, before: before.value, after: bytes, replacements: count }, context)
}

function absent(path: string): Failed {
  return failed('not_found', `${shownPath(path)} does not exist. Use write to create it.`)
}
