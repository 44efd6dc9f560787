import { quote, shorten } from '../../encoding/quote.ts'
import { linkFacts } from './resources.ts'
import { hydration } from './skills.ts'

// The texts of checkpoints that a model reads. Every sentence of this folder is part of the Prompt Contract: see
// `version.ts`. They depend on the facts of the checkpoint alone, so its bytes never change.

interface Range {
  readonly from_seq: number
  readonly to_seq: number
}

interface CarriedFacts {
  readonly files_touched: readonly string[]
  readonly decisions: readonly string[]
  readonly open_tasks: readonly string[]
  readonly tool_outcomes: readonly { readonly name: string; readonly outcome: string }[]
  readonly resources: readonly {
    readonly handle: string
    readonly name: string
    readonly fate?: string | undefined
    readonly uri?: string | undefined
    readonly not_copied?: string | undefined
  }[]
  readonly skills: readonly { readonly name: string }[]
  readonly hydrations: readonly HydrationFacts[]
  readonly pinned: readonly string[]
  readonly counts?: Readonly<Record<CountName, number>> | undefined
}

type CountName = 'file_changes' | 'tool_outcomes' | 'resources' | 'hydrations' | 'open_tasks'

interface HydrationFacts {
  readonly context_source_id: string
  readonly skill?: { readonly name: string } | undefined
  readonly status?: string | undefined
  readonly output_bytes?: number | undefined
  readonly output_sha256?: string | undefined
  readonly truncated?: boolean | undefined
}

interface CheckpointFacts {
  readonly range?: Range | undefined
  readonly summary?: string | undefined
  readonly carried?: CarriedFacts | undefined
  readonly limitations?: readonly string[] | undefined
}

/** The item at the start of a Conversation that a checkpoint shortened. */
export function checkpoint({ range, summary = '', carried, limitations }: CheckpointFacts): string {
  const { from_seq = 0, to_seq = 0 } = range ?? {}
  return [
    `[Checkpoint: this summary replaces Events ${from_seq} to ${to_seq}. It is lossy.]`,
    ...(summary === '' ? [] : [summary]),
    ...(carried === undefined ? [] : carriedLines(carried)),
    ...list('Limitations:', limitations ?? []),
  ].join('\n')
}

function carriedLines(carried: CarriedFacts): string[] {
  const { decisions, open_tasks, resources, skills, hydrations, counts } = carried
  return [
    ...carried.pinned.map(pinned),
    ...list('Decisions of the person, the newest last:', decisions),
    ...list(`Open tasks of the plan${ofAll(open_tasks, counts?.open_tasks)}:`, open_tasks),
    ...listLine(
      `Resources${ofAll(resources, counts?.resources)}, not shown here:`,
      resources.map(resourceName),
    ),
    ...listLine(
      'Skills activated in these Events:',
      skills.map(({ name }) => quote(name)),
    ),
    ...list(
      `Context hydrated in these Events${ofAll(hydrations, counts?.hydrations)}:`,
      hydrations.map(hydrationLine),
    ),
    ...listLine(
      `Files changed by write and edit${changes(counts?.file_changes)}:`,
      carried.files_touched.map(quote),
    ),
    ...listLine(
      `Tool calls${ofAll(carried.tool_outcomes, counts?.tool_outcomes)}:`,
      outcomeCounts(carried.tool_outcomes),
    ),
  ]
}

/** The byte count marks the end, even if the text contains a line like the last one. */
export function pinned(text: string): string {
  return `[Pinned text, ${Buffer.byteLength(text)} bytes:]\n${text}\n[End of pinned text]`
}

/** After a text that was shown as pinned, which stays in its place until a checkpoint. */
export function unpinned(text: string): string {
  return `[The person removed the pinned text ${excerpt(text, 200)}. It is no longer pinned.]`
}

function resourceName(resource: CarriedFacts['resources'][number]): string {
  const { handle, name, fate, uri, not_copied } = resource
  const isLink = uri !== undefined || not_copied !== undefined
  const [what = '', why] = isLink ? linkFacts(resource) : [quote(name)]
  const facts = [why, fate].filter((fact) => fact !== undefined)
  return `${handle} ${what}${facts.length === 0 ? '' : ` (${facts.join('; ')})`}`
}

function hydrationLine(facts: HydrationFacts): string {
  const { context_source_id, skill, status, output_bytes, output_sha256, truncated } = facts
  if (skill === undefined || output_bytes === undefined || output_sha256 === undefined)
    return quote(context_source_id)
  const source = { context_source_id, skill, status: status ?? 'ok' }
  return hydration({ ...source, output_bytes, output_sha256, truncated })
}

/** Such as `read 12 ok, 1 failed`, in the order in which the tools were first called. */
function outcomeCounts(outcomes: CarriedFacts['tool_outcomes']): string[] {
  const tools = new Map<string, Map<string, number>>()
  for (const { name, outcome } of outcomes) {
    const counts = tools.get(name) ?? new Map<string, number>()
    tools.set(name, counts.set(outcome, (counts.get(outcome) ?? 0) + 1))
  }
  return [...tools].map(([name, counts]) => {
    return `${name} ${[...counts].map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`
  })
}

/** Nothing if the list is complete. */
function ofAll({ length }: { readonly length: number }, all = length): string {
  return all === length ? '' : ` (${length} of ${all})`
}

function changes(count: number | undefined): string {
  return count === undefined ? '' : ` (${count === 1 ? '1 change' : `${count} changes`})`
}

function list(heading: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [heading, ...values.map((value) => `- ${value}`)]
}

function listLine(heading: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${heading} ${values.join('; ')}`]
}

/** The first line of a summary that consists of excerpts. */
export const EXCERPTS = 'Excerpts of the Turns in these Events, the newest in more detail:'

/** Turns that the summary omits, from the first one on. */
export function omittedTurns(count: number): string {
  return count === 1 ? 'Turn 1 is not described.' : `Turns 1 to ${count} are not described.`
}

/** A summary in other words, of the checkpoint before. */
export function earlierSummary({ from_seq, to_seq }: Range, summary: string, most: number): string {
  return `Events ${from_seq} to ${to_seq}: ${excerpt(summary, most)}`
}

/** Whether a line of a summary describes a Turn or an earlier summary. */
export const DESCRIBING_LINE = /^(?:Turn (\d+)|Events \d+ to \d+): /

interface TurnFacts {
  readonly number: number
  readonly request: string
  readonly answer: string
  readonly handles: readonly string[]
  readonly calls: number
  readonly status: string
}

/** One line about a Turn; request and answer have at most `most` bytes each. */
export function turnExcerpt(facts: TurnFacts, most: number): string {
  const { number, request, answer, handles, calls, status } = facts
  return [
    `Turn ${number}: request ${excerpt(request, most)}`,
    ...(handles.length === 0 ? [] : [`with ${handles.join(', ')}`]),
    ...(calls === 0 ? [] : [calls === 1 ? '1 tool call' : `${calls} tool calls`]),
    answer === '' ? 'no answer' : `answer ${excerpt(answer, most)}`,
    ...(status === 'completed' ? [] : [status]),
  ].join('; ')
}

function excerpt(text: string, most: number): string {
  return quote(shorten(text, most))
}

interface DecisionFacts {
  readonly decision: 'allowed' | 'denied'
  readonly scope: 'once' | 'session' | 'workspace'
  /** What was allowed or denied, and its main argument. */
  readonly what: string
  readonly argument?: string | undefined
  readonly reason?: string | undefined
}

const SCOPES = { once: 'once', session: 'for the Session', workspace: 'for the workspace' }

/** A permission answer of a person. */
export function decision({ decision: answer, scope, what, argument, reason }: DecisionFacts) {
  const about = argument === undefined ? what : `${what} ${quote(argument)}`
  const why = reason === undefined ? '' : `, because ${quote(reason)}`
  return `${answer} ${about} ${SCOPES[scope]}${why}`
}

/** A setting that a person changed. */
export function setting(name: string, value: string): string {
  return `set ${name} to ${quote(value)}`
}

/** Limits of every summary. */
export const LOSSY =
  'The summary has excerpts, not everything. What it does not mention may still have happened.'

/** How to read the Events that the checkpoint replaces. */
export function lookUp({ from_seq, to_seq }: Range): string {
  return `To look something up in Events ${from_seq} to ${to_seq}, call history_search.`
}

/** Skills whose text was in the range only. */
export function inactiveSkills(names: readonly string[]): string {
  const all = names.map(quote).join(', ')
  return `Skills activated only in these Events are not active, and their text is not shown unless they are activated again: ${all}.`
}

export const DESCRIBED_ONLY =
  'The Resources named here are not shown. A name or a description is not the picture: call resource_view to see it.'

export function elidedOutputs(count: number): string {
  return count === 1
    ? '1 long tool output is shown as a pointer.'
    : `${count} long tool outputs are shown as pointers.`
}

/** Pinned texts beyond the limit, in a Log of another origin. */
export function tooManyPins(count: number): string {
  return count === 1
    ? '1 pinned text is too long to keep.'
    : `${count} pinned texts are too long to keep.`
}
