import * as z from 'zod'
import { globPattern } from '../encoding/glob-pattern.ts'
import { shownPath } from '../host/files/confined-path.ts'
import { failed } from '../model/errors.ts'
import { LEFT_OUT, ripgrep, searchedPlace } from './ripgrep.ts'
import { countOf } from '../encoding/amounts.ts'
import { fittingLines, interruptedOutcome } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const Parameters = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .describe('Such as **/*.ts or src/{a,b}/*.md. Without a slash it matches names in any folder.'),
  path: z.string().optional().describe('Folder to search. Default: the workspace.'),
})
type Args = z.infer<typeof Parameters>

export const glob = defineTool({
  name: 'glob',
  description: `Finds files by path, sorted. To search their text use grep. ${LEFT_OUT}`,
  parameters: Parameters,
  claim: ({ path = '.' }) => ({ tool: 'glob', effect: 'read', paths: [path], network: false }),
  run,
})

async function run({ pattern, path = '.' }: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const matches = globPattern(pattern)
  if (matches === undefined) return failedOutcome(tooManyMeanings().error)
  const place = await searchedPlace(path, context)
  if (!place.ok) return failedOutcome(place.error)
  const chunks: Buffer[] = []
  // Not with ripgrep's --glob, which would include ignored files.
  const flags = ['--files', '--null']
  const onOutput = (chunk: Buffer) => void chunks.push(chunk)
  const end = await ripgrep({ flags, place: place.value, onOutput }, context)
  if (!end.ok) return failedOutcome(end.error)
  const below = place.value === '.' ? '' : `${place.value}/`
  const found = namesIn(chunks).filter(
    (name) => matches(name.replace(below, '')) && !context.files.isProtected(name),
  )
  return shownNames(found, context)
}

function namesIn(chunks: readonly Buffer[]): string[] {
  const names = Buffer.concat(chunks).toString('utf8').split('\0').slice(0, -1)
  return names.map((name) => name.replace(/^(\.\/)+/, ''))
}

function shownNames(found: readonly string[], { limits, redactor }: ToolContext): ToolOutcome {
  if (found.length === 0) return { outcome: 'ok', output: `[No files found. ${LEFT_OUT}]\n` }
  const names = found
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => redactor.text(shownPath(name)))
  const { text, shownLines, truncated } = fittingLines(names, limits.output_bytes)
  if (!truncated) return { outcome: 'ok', output: text }
  const rest = countOf(names.length - shownLines, 'more file')
  return { outcome: 'ok', output: `${text}[${rest}; narrow the pattern or the path]\n`, truncated }
}

function tooManyMeanings() {
  return failed('invalid_args', 'The pattern has too many alternatives in braces.')
}
