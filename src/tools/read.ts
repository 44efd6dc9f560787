import { isUtf8 } from 'node:buffer'
import * as z from 'zod'
import { binaryKind, usualExtension } from '../encoding/magic-bytes.ts'
import { OWN_PATH } from '../prompt/words/instructions.ts'
import type { FileContent } from '../host/files/confined-files.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { FILE_BYTES } from '../host/files/confined-write.ts'
import { causeOf, failed } from '../model/errors.ts'
import { countOf, groupDigits } from '../encoding/amounts.ts'
import { fittingLines, interruptedOutcome, type ShownLines } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const Parameters = z.strictObject({
  path: z.string().describe('Path of a file or folder, relative to the workspace.'),
  from_line: z.int().min(1).optional().describe('First line. Default: 1.'),
  to_line: z.int().min(1).optional().describe('Last line, included. Default: the end.'),
})
type Args = z.infer<typeof Parameters>

export const read = defineTool({
  name: 'read',
  description:
    'Returns a text file with line numbers, which are not part of the file, or the names in a folder; shows an image or PDF. A long file is cut, and the last line says how to continue. Read several files with several calls in one answer.',
  parameters: Parameters,
  claim: ({ path }) => ({ tool: 'read', effect: 'read', paths: [path], network: false }),
  run,
})

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const file = await fileAt(args.path, context)
  if (file.ok) {
    if (MEDIA.has(usualExtension(file.value.bytes))) {
      return (await import('./read-media.ts')).shownMedia(args.path, context)
    }
    const bytes = context.redactor.bytes(file.value.bytes)
    return shownFile(args, { ...file.value, bytes }, context)
  }
  const cause = causeOf(file.error)
  if (cause?.type === 'found' && cause.entry === 'folder') return shownFolder(args.path, context)
  return failedOutcome(file.error)
}

/** The instructions of the person are the only file outside the workspace, and only by this name. */
function fileAt(path: string, { files, ownInstructions }: ToolContext) {
  if (path !== OWN_PATH || ownInstructions === undefined) return files.read(path, FILE_BYTES)
  return ownInstructions(FILE_BYTES)
}

/** File types that are shown as media instead of text. */
const MEDIA: ReadonlySet<string> = new Set(['png', 'jpg', 'gif', 'webp', 'pdf'])

function shownFile(args: Args, file: FileContent, { limits }: ToolContext): ToolOutcome {
  const name = shownPath(args.path)
  const binary = binaryKind(file.bytes)
  if (binary !== undefined) {
    const message = `${name} is ${binary} of ${countOf(file.size, 'byte')}, not text.`
    return failedOutcome(failed('unsupported_type', message, { found: binary }).error)
  }
  const lines = linesOf(file)
  if (lines.length === 0) return { outcome: 'ok', output: `[${name} is empty]\n` }
  const { from_line: from = 1, to_line: to = lines.length } = args
  if (from > lines.length || to < from) {
    const message = `${name} has ${countOf(lines.length, 'line')}; the range ${from} to ${to} is not in it.`
    return failedOutcome(failed('invalid_args', message, { lines: lines.length }).error)
  }
  const wanted = lines.slice(from - 1, to).map((line, at) => numberLine(line, from + at))
  const shown = fittingLines(wanted, limits.output_bytes)
  const notes = [...notesOn(file, lines), ...whatFollows(shown, from, lines.length)]
  const truncated = shown.truncated || file.truncated
  const output = shown.text + notes.map((note) => `[${note}]\n`).join('')
  return { outcome: 'ok', output, ...(truncated ? { truncated } : {}) }
}

/** The lines without line ends. If the file was not read completely, the last line is omitted, because it may be incomplete. */
function linesOf({ bytes, truncated }: FileContent): string[] {
  const lines = bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n')
  if (lines.at(-1) === '' || (truncated && lines.length > 1)) lines.pop()
  return lines
}

function numberLine(line: string, number: number): string {
  return `${number}\t${line.replace(/\r$/, '')}`
}

/** Facts that the lines do not show. */
function notesOn({ bytes, size, truncated }: FileContent, lines: readonly string[]): string[] {
  const notes: string[] = []
  const crlf = lines.filter((line) => line.endsWith('\r')).length
  if (crlf > 0) notes.push(`${crlf < lines.length ? 'Some' : 'All'} lines end in CRLF.`)
  if (truncated) {
    const part = `${groupDigits(bytes.length)} of ${countOf(size, 'byte')}`
    notes.push(`Only the first ${part} can be read by line; search the rest with grep.`)
  } else if (!isUtf8(bytes)) notes.push('Bytes that are not UTF-8 are shown as \uFFFD.')
  return notes
}

function whatFollows(shown: ShownLines, from: number, lines: number): string[] {
  const to = from + shown.shownLines - 1
  const cut = shown.cutLine ? [`Line ${groupDigits(to)} is too long to show in full.`] : []
  if (to === lines) return cut
  const next = shown.truncated ? `; continue with from_line ${to + 1}` : ''
  return [
    ...cut,
    `Lines ${groupDigits(from)} to ${groupDigits(to)} of ${groupDigits(lines)}${next}.`,
  ]
}

async function shownFolder(
  path: string,
  { files, limits, redactor }: ToolContext,
): Promise<ToolOutcome> {
  const entries = await files.list(path)
  if (!entries.ok) return failedOutcome(entries.error)
  if (entries.value.length === 0) {
    return { outcome: 'ok', output: `[${shownPath(path)} is an empty folder]\n` }
  }
  const names = entries.value.map(({ name, kind }) =>
    redactor.text(`${shownPath(name)}${MARKS[kind]}`),
  )
  const { text, shownLines, truncated } = fittingLines(names, limits.output_bytes)
  if (!truncated) return { outcome: 'ok', output: text }
  const rest = countOf(names.length - shownLines, 'more name')
  return { outcome: 'ok', output: `${text}[${rest}; find them with glob]\n`, truncated: true }
}

const MARKS = { file: '', folder: '/', symlink: '@', pipe: '|', socket: '=', device: '%' } as const
