import * as z from 'zod'
import { countOf, groupDigits } from '../encoding/amounts.ts'
import { searchPattern } from '../encoding/search-pattern.ts'
import type { Descriptor } from '../model/descriptor.ts'
import { failed, ok, type Result } from '../model/errors.ts'
import type {
  EventPage,
  HistoryFindings,
  HistoryMatch,
  HistoryPlace,
} from '../model/events/event-search.ts'
import { clipText, fittingLines, interruptedOutcome } from './shown-lines.ts'
import { defineTool, failedOutcome, type ToolContext, type ToolOutcome } from './tool.ts'

const DEFAULT_LIMIT = 20
const LONGEST_QUERY = 1_000

const Parameters = z.strictObject({
  query: z.string().min(1).max(LONGEST_QUERY).optional().describe('Text within a line.'),
  regex: z.boolean().optional().describe('query is a regular expression.'),
  ignore_case: z.boolean().optional().describe('Default: true.'),
  turn: z.int().min(1).optional().describe('Only this Turn.'),
  seq: z.int().min(0).optional().describe('Only this Event; without query, its text.'),
  offset: z.int().min(0).optional().describe('Where to continue reading.'),
  limit: z.int().min(1).max(100).optional().describe('Default: 20.'),
})
type Args = z.infer<typeof Parameters>

export const historySearch = defineTool({
  name: 'history_search',
  description:
    'Searches this Session, newest first, including what a checkpoint or a note replaced; or reads one Event.',
  parameters: Parameters,
  claim: () => ({ tool: 'history_search', effect: 'read', paths: [], network: false }),
  run,
})

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  if (context.signal.aborted) return interruptedOutcome()
  const { query, seq } = args
  if (query !== undefined) return searchLog({ ...args, query }, context)
  if (seq !== undefined) return pageOf({ ...args, seq }, context)
  const text = 'history_search: pass query to search, or seq to read the text of an Event.'
  return failedOutcome(failed('invalid_args', text).error)
}

async function searchLog(
  args: Args & { readonly query: string },
  context: ToolContext,
): Promise<ToolOutcome> {
  const { query, regex = false, ignore_case: ignoreCase = true, turn, seq } = args
  const pattern = searchPattern(query, { ignoreCase, isLiteral: !regex })
  if (typeof pattern === 'string') {
    const text = `Invalid regular expression: ${pattern}. For plain text, leave out regex.`
    return failedOutcome(failed('invalid_args', text).error)
  }
  const { limit = DEFAULT_LIMIT } = args
  const findings = await context.searchHistory({ pattern, turn, seq, limit })
  if (!findings.ok) return failedOutcome(findings.error)
  const { turns, stop } = findings.value
  if (turn !== undefined && turn > turns) {
    const text = `There is no Turn ${turn}; this Session has ${countOf(turns, 'Turn')}.`
    return failedOutcome(failed('invalid_args', text, { turns }).error)
  }
  const shown = await permittedMatches(findings.value.matches, context)
  if (!shown.ok) return failedOutcome(shown.error)
  const { matches, withheldResources } = shown.value
  const notes = [...withheldNotes(withheldResources), ...notesOn(findings.value)]
  if (matches.length === 0 && stop !== undefined) {
    return failedOutcome(failed('timeout', `No matches so far. ${notes.join(' ')}`).error)
  }
  const room = context.limits.output_bytes - Buffer.byteLength(notes.join(' '))
  const { text, shownLines: count, truncated } = fittingLines(matches.map(matchLine), room)
  const sum = sumOf(findings.value, truncated ? count : matches.length)
  const isCut = truncated || findings.value.matchCount > findings.value.matches.length
  return {
    outcome: 'ok',
    output: `${text}[${[sum, ...notes].join(' ')}]\n`,
    ...(isCut ? { truncated: true } : {}),
  }
}

/** Such as `Turn 3, Event 12, result of bash, output: the line`. */
function matchLine(match: HistoryMatch): string {
  const { resource, field, text } = match
  const where = resource === undefined ? field : `content of ${resource.handle}`
  return `${eventName(match)}, ${where}: ${text}`
}

function eventName({ turn, seq, type, tool = 'a tool' }: HistoryPlace): string {
  const what = type === 'tool_call' ? `call of ${tool}` : `result of ${tool}`
  const who = type === 'tool_call' || type === 'tool_result' ? what : (SOURCES[type] ?? type)
  return [...(turn === undefined ? [] : [`Turn ${turn}`]), `Event ${seq}`, who].join(', ')
}

const SOURCES: Readonly<Record<string, string>> = {
  user_message: 'person',
  assistant_message: 'model',
  resource_ingested: 'attachment of the model',
  skill_context_hydration: 'hydrated context',
  history_compaction: 'checkpoint',
  text_pinned: 'pinned text',
  shell_command: 'command of the person',
  shell_result: 'output of a command of the person',
}

/** How many matches there are, and how to get others. */
function sumOf({ matchCount, isCounted, turns }: HistoryFindings, shown: number): string {
  if (matchCount === 0) return `No matches in ${countOf(turns, 'Turn')}.`
  if (shown === matchCount) return `${countOf(matchCount, 'match', 'matches')}, newest first.`
  const all = isCounted
    ? countOf(matchCount, 'match', 'matches')
    : `${groupDigits(matchCount)} or more matches`
  return `${shown} of ${all}, newest first; narrow the query, or pass turn, seq or limit.`
}

/** What was not searched. */
function notesOn({ stop, unread, damage, turns }: HistoryFindings): string[] {
  const gone = unread.filter(({ why }) => why === 'dropped' || why === 'quarantined')
  const lost = unread.filter((one) => !gone.includes(one)).map(({ seq }) => seq)
  return [
    ...(stop === undefined ? [] : [stopWords(stop, turns)]),
    ...(lost.length === 0 ? [] : [`Not searched, because stored text is lost: ${eventsOf(lost)}.`]),
    ...(gone.length === 0
      ? []
      : [`Not searched, because it is not shown again: ${countOf(gone.length, 'attachment')}.`]),
    ...(damage === undefined ? [] : [`Older Events cannot be read: ${damage.message}`]),
  ]
}

function stopWords({ turn, why }: NonNullable<HistoryFindings['stop']>, turns: number): string {
  const where = turn === undefined ? '' : ` in Turn ${turn} of ${turns}`
  const reason =
    why === 'timeout' ? 'at its time limit' : 'because the regular expression is too complex'
  return `The search stopped${where} ${reason}; what is older was not searched. Pass turn, or a simpler query.`
}

const NAMED = 5

function eventsOf(seqs: readonly number[]): string {
  const all = [...new Set(seqs)]
  const more = all.length - NAMED
  const named = `${all.length === 1 ? 'Event' : 'Events'} ${all.slice(0, NAMED).join(', ')}`
  return more > 0 ? `${named} and ${more} more` : named
}

interface PermittedMatches {
  readonly matches: readonly HistoryMatch[]
  /** Resources whose matches may not be shown. */
  readonly withheldResources: readonly Descriptor[]
}

/** A line of an attachment is part of its content: the same rules apply as to a view of it. */
async function permittedMatches(
  matches: readonly HistoryMatch[],
  { resources }: Pick<ToolContext, 'resources'>,
): Promise<Result<PermittedMatches>> {
  const all = new Map(
    matches.flatMap(({ resource }) => (resource ? [[resource.resource_id, resource]] : [])),
  )
  const withheld = new Map<string, Descriptor>()
  for (const [id, resource] of all) {
    const may = await mayShow(resource, resources)
    if (!may.ok) return may
    if (!may.value) withheld.set(id, resource)
  }
  const shown = matches.filter(({ resource }) => !resource || !withheld.has(resource.resource_id))
  return ok({ matches: shown, withheldResources: [...withheld.values()] })
}

async function mayShow(
  resource: Descriptor,
  { mayShow: ask, payload, holdsKey }: ToolContext['resources'],
): Promise<Result<boolean>> {
  if (resource.kind === 'link') return ok(false)
  const answer = await ask(resource)
  if (!answer.ok || !answer.value.isAllowed) return answer.ok ? ok(false) : answer
  const bytes = await payload(resource.blob)
  // It was just read; if it is gone now, there is nothing to protect it by.
  return bytes.ok ? ok(!(await holdsKey(resource, bytes.value))) : ok(false)
}

function withheldNotes(withheld: readonly Descriptor[]): string[] {
  if (withheld.length === 0) return []
  const handles = withheld.slice(0, NAMED).map(({ handle }) => handle)
  return [`Matches in ${handles.join(', ')} are not shown: sending them was not permitted.`]
}

/** The part of the output limit that is reserved for the last line. */
const LAST_LINE_BYTES = 400

async function pageOf(
  { seq, offset = 0 }: Args & { readonly seq: number },
  context: ToolContext,
): Promise<ToolOutcome> {
  const room = Math.max(1, context.limits.output_bytes - LAST_LINE_BYTES)
  const page = await context.readEvent(seq, { offset, length: room })
  if (!page.ok) return failedOutcome(page.error)
  const { characters } = page.value
  if (offset > 0 && offset >= characters) {
    const text = `The text of Event ${seq} has ${countOf(characters, 'character')}; offset ${offset} is not in it.`
    return failedOutcome(failed('invalid_args', text, { characters }).error)
  }
  // Half a surrogate pair would be replaced; the next page begins with it.
  const text = clipText(page.value.text.replace(/[\uD800-\uDBFF]$/, ''), room)
  const end = offset + text.length
  const output = `${text}${text.endsWith('\n') || text === '' ? '' : '\n'}[${lastLine(page.value, offset, end)}]\n`
  return { outcome: 'ok', output, ...(end < characters ? { truncated: true } : {}) }
}

function lastLine(page: EventPage, from: number, to: number): string {
  const { characters, unread } = page
  const part =
    from === 0 && to === characters
      ? `all ${countOf(characters, 'character')}`
      : `characters ${groupDigits(from)} to ${groupDigits(to)} of ${groupDigits(characters)}`
  const next = to < characters ? `; continue with offset ${to}` : ''
  const lost = unread === undefined ? '' : ` The whole output is ${unread}; this is a part of it.`
  return `${eventName(page)}: ${part}${next}.${lost}`
}
