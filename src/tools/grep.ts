import * as z from 'zod'
import { globPattern } from '../encoding/glob-pattern.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { failed } from '../model/errors.ts'
import { Findings, type Section } from './findings.ts'
import { LEFT_OUT, ripgrep, searchedPlace } from './ripgrep.ts'
import { countOf } from '../encoding/amounts.ts'
import { fittingLines, interruptedOutcome } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const Parameters = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .refine((text) => !text.includes('\0'), { error: 'a pattern must not contain NUL' })
    .describe('Regular expression in ripgrep syntax, such as function\\s+\\w+ or log\\(.'),
  path: z.string().optional().describe('File or folder to search. Default: the workspace.'),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe('Only files whose path matches, such as *.ts or src/**/*.md.'),
  ignore_case: z.boolean().optional().describe('Match case-insensitively.'),
  context: z.int().min(0).max(10).optional().describe('Lines around each match.'),
})
type Args = z.infer<typeof Parameters>

export const grep = defineTool({
  name: 'grep',
  description: `Searches the lines of files; returns them with their numbers under each path. To find files by name use glob. ${LEFT_OUT}`,
  parameters: Parameters,
  claim: ({ path = '.' }) => ({ tool: 'grep', effect: 'read', paths: [path], network: false }),
  run,
})

async function run(
  { path = '.', glob, ...args }: Args,
  context: ToolContext,
): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  // Not with ripgrep's --glob, which would include ignored files.
  const matches = glob === undefined ? () => true : globPattern(glob)
  if (matches === undefined) return failedOutcome(tooManyMeanings().error)
  const place = await searchedPlace(path, context)
  if (!place.ok) return failedOutcome(place.error)
  const isShown = (name: string) => matches(name) && !context.files.isProtected(name)
  const findings = new Findings(isShown, context.limits.output_bytes, context.redactor)
  const onOutput = (chunk: Buffer) => findings.push(chunk)
  const end = await ripgrep({ flags: flagsOf(args), place: place.value, onOutput }, context)
  if (!end.ok) return failedOutcome(end.error)
  if (end.value === 2 && findings.complaint !== '') {
    const message = `ripgrep refused the search: ${findings.complaint}`
    return failedOutcome(failed('invalid_args', message).error)
  }
  return shownFindings(findings, end.value === 2, context)
}

/** Joined with `=`, so that a pattern is never parsed as a flag. */
function flagsOf({ pattern, ignore_case, context = 0 }: Omit<Args, 'path' | 'glob'>): string[] {
  const flags = ['--json', '--sort=path', `--context=${context}`, `--regexp=${pattern}`]
  return ignore_case === true ? [...flags, '--ignore-case'] : flags
}

async function shownFindings(
  { sections, cut }: Findings,
  unread: boolean,
  context: ToolContext,
): Promise<ToolOutcome> {
  const readable = await readableOnes(sections, context)
  const withheld = sections.length - readable.length
  const notes = [
    ...(unread ? ['Some files could not be read.'] : []),
    ...(withheld > 0 ? [`${countOf(withheld, 'file')} not shown, because read refuses them.`] : []),
  ]
  if (readable.length === 0) {
    return { outcome: 'ok', output: `[${['No matches.', LEFT_OUT, ...notes].join(' ')}]\n` }
  }
  const { text, truncated: clipped } = fittingLines(linesOf(readable), context.limits.output_bytes)
  const matches = readable.reduce((sum, section) => sum + section.matches, 0)
  const sum = `${countOf(matches, 'match', 'matches')} in ${countOf(readable.length, 'file')}`
  if (!cut && !clipped)
    return { outcome: 'ok', output: `${text}[${[`${sum}.`, ...notes].join(' ')}]\n` }
  const note = `The first of ${sum}; narrow the pattern, path or glob.`
  return { outcome: 'ok', output: `${text}[${[note, ...notes].join(' ')}]\n`, truncated: true }
}

/** A search must not bypass the refusals of `read`: a file with a second hard link, or one that belongs to Hawser. */
async function readableOnes(
  sections: readonly Section[],
  { files }: ToolContext,
): Promise<Section[]> {
  const readable: Section[] = []
  for (const section of sections) {
    // Sections without lines are not shown, so they need no check.
    const judged = section.lines.length === 0 || (await files.read(section.path, 0)).ok
    if (judged) readable.push(section)
  }
  return readable
}

function linesOf(sections: readonly Section[]): string[] {
  const shown = sections.filter(({ lines }) => lines.length > 0)
  return shown.flatMap(({ path, lines }, at) => [
    ...(at === 0 ? [] : ['']),
    shownPath(path),
    ...lines,
  ])
}

function tooManyMeanings() {
  return failed('invalid_args', 'The glob has too many alternatives in braces.')
}
