import * as z from 'zod'
import { KEY_PLACEHOLDER } from '../encoding/redaction.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import { changeFile, previewOf, wholeFile } from './file-change.ts'
import { nearestLine } from './nearest-line.ts'
import { counted } from '../encoding/amounts.ts'
import { clipped, interruptedOutcome } from './shown-lines.ts'
import {
  defineTool,
  failedOutcome,
  type PreviewContext,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts'

const Parameters = z
  .strictObject({
    path: z.string().describe('Path of the file, relative to the workspace.'),
    old_text: z
      .string()
      .min(1)
      .describe(
        'Text to replace, exactly as in the file, without the line numbers that read shows.',
      ),
    new_text: z.string().describe('Text to put in its place; empty to delete.'),
    replace_all: z.boolean().optional().describe('Replace every occurrence. Default: false.'),
  })
  .refine(({ old_text, new_text }) => old_text !== new_text, {
    error: 'old_text and new_text are the same, so nothing would change',
  })
type Args = z.infer<typeof Parameters>

export const edit = defineTool({
  name: 'edit',
  description:
    'Replaces text in a file and returns the diff. Read the file first. old_text must match exactly, white space included, and occur exactly once: add lines around it until it is unique, or set replace_all. For a new file use write.',
  parameters: Parameters,
  claim: ({ path }) => ({ tool: 'edit', effect: 'write', paths: [path], network: false }),
  preview,
  run,
})

async function preview(args: Args, context: PreviewContext): Promise<string | undefined> {
  const before = await wholeFile(args.path, context)
  if (!before.ok || before.value === undefined) return undefined
  const after = edited(before.value, args, context)
  return after.ok
    ? previewOf({ path: args.path, before: before.value, after: after.value })
    : undefined
}

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const before = await wholeFile(args.path, context)
  if (!before.ok) return failedOutcome(before.error)
  if (before.value === undefined) return failedOutcome(absent(args.path).error)
  const after = edited(before.value, args, context)
  if (!after.ok) return failedOutcome(after.error)
  return changeFile({ path: args.path, before: before.value, after: after.value }, context)
}

/** Works on bytes, so that whatever is not UTF-8 elsewhere in the file stays as it is. */
function edited(before: Buffer, args: Args, context: PreviewContext): Result<Buffer> {
  const { path, old, fresh } = asInFile(before, args)
  const places = placesOf(before, old)
  const [first] = places
  if (first === undefined) return noMatch(path, before, args.old_text, context)
  if (places.length > 1 && args.replace_all !== true) return notUnique(path, before, places)
  const pieces: Buffer[] = []
  let from = 0
  for (const at of places) {
    // One that overlaps the last is gone with it.
    if (at < from) continue
    pieces.push(before.subarray(from, at), fresh)
    from = at + old.length
  }
  return ok(Buffer.concat([...pieces, before.subarray(from)]))
}

/** In a file whose lines end in CRLF, texts with plain line ends mean those. */
function asInFile(before: Buffer, { path, old_text, new_text }: Args) {
  const old = Buffer.from(old_text)
  const fresh = Buffer.from(new_text)
  if (before.includes(old)) return { path, old, fresh }
  return { path, old: withCrlf(old_text), fresh: withCrlf(new_text) }
}

function withCrlf(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'))
}

function placesOf(bytes: Buffer, piece: Buffer): number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(piece); at !== -1; at = bytes.indexOf(piece, at + 1)) places.push(at)
  return places
}

const SHOWN_PLACES = 20
const SHOWN_BYTES = 200

function notUnique(path: string, bytes: Buffer, places: readonly number[]): Failed {
  const lines = linesAt(bytes, places.slice(0, SHOWN_PLACES))
  const more = places.length > lines.length ? ' and more' : ''
  const message = `old_text occurs ${counted(places.length, 'time')} in ${shownPath(path)}, at lines ${lines.join(', ')}${more}. Include more of the surrounding text, or set replace_all.`
  return failed('not_unique', message, { count: places.length, lines })
}

function noMatch(
  path: string,
  bytes: Buffer,
  wanted: string,
  { redactor }: PreviewContext,
): Failed {
  if (wanted.includes(KEY_PLACEHOLDER) && redactor.holds(bytes)) return hiddenKey(path)
  const nearest = nearestLine(redactor.bytes(bytes).toString('utf8'), wanted)
  const message = `old_text not found in ${shownPath(path)}.`
  if (nearest === undefined) return failed('no_match', message)
  const { line, text, numbers } = nearest
  const hint = numbers
    ? 'Leave out the line numbers that read shows.'
    : `The nearest match is line ${line}: ${clipped(text, SHOWN_BYTES)}`
  return failed('no_match', `${message} ${hint}`, { nearest_line: line })
}

/** What is shown in place of a key cannot be found in the file. */
function hiddenKey(path: string): Failed {
  const message = `${KEY_PLACEHOLDER} replaces a key in ${shownPath(path)} that is not shown, so old_text does not match. Leave the key out of old_text and new_text: match the text before or after it.`
  return failed('no_match', message, { reason: 'key_placeholder' })
}

/** Numbers of the lines in which places lie; places ascend. */
function linesAt(bytes: Buffer, places: readonly number[]): number[] {
  let line = 1
  let from = 0
  return places.map((place) => {
    for (let at = bytes.indexOf(10, from); at !== -1 && at < place; at = bytes.indexOf(10, from)) {
      line += 1
      from = at + 1
    }
    return line
  })
}

function absent(path: string): Failed {
  return failed('not_found', `${shownPath(path)} is not there. Use write to make a file.`)
}
