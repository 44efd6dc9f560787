import { quote, shorten } from '../encoding/quote.ts'
import { isJsonObject, parseJson } from '../encoding/json.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { UncoveredPath } from '../model/events/file-events.ts'
import type { TurnId } from '../model/ids.ts'

/** A command that could change files, and whose changes are not known: there are no snapshots around it. */
export interface RanCommand {
  /** The number of its Turn, counted from 1; of the Turn before it, if the person ran it. */
  readonly turn: number
  /** Absent if the person ran it. */
  readonly turn_id?: TurnId
  readonly by: 'model' | 'person' | 'skill'
  readonly command: string
}

/** The limitation of a hydration whose command could change files. */
export const WITHOUT_SANDBOX = 'The command ran without a sandbox.'

/** The types of Events that `ranCommands` reads. */
export const COMMAND_EVENTS = [
  'turn_started',
  'tool_call',
  'command_watched',
  'permission_decision',
  'shell_command',
  'skill_context_hydration',
  'workspace_snapshot',
] as const

/**
 * The commands that could change files, in the order in which they started. Omits those that ran with everything read-only:
 * such a command is not watched, and no person was asked about it. Omits those with snapshots around them, unless `isLost` says
 * that these are not stored any more. Pure.
 */
export function ranCommands(
  events: readonly WholeEvent[],
  isLost: (data: EventData<'workspace_snapshot'>) => boolean = () => false,
): RanCommand[] {
  const known = coveredCalls(events, isLost)
  const calls = new Map<string, string>()
  const counted = new Set<string>()
  const ran: RanCommand[] = []
  let turn = 0
  for (const event of events) {
    const { turn_id } = event
    const add = (by: RanCommand['by'], command: string) =>
      ran.push({ turn, ...(turn_id === undefined ? {} : { turn_id }), by, command })
    if (event.type === 'turn_started') turn += 1
    if (event.type === 'shell_command' && !known.has(event.data.command_id))
      add('person', event.data.command)
    if (event.type === 'skill_context_hydration' && couldChange(event.data))
      add('skill', [event.data.produced_by.name, ...argumentsOf(event.data)].join(' '))
    if (event.type === 'tool_call' && event.data.name === 'bash')
      calls.set(`${turn_id} ${event.data.call_id}`, commandIn(event.data.arguments))
    const call = startedCall(event)
    const command = call === undefined ? undefined : calls.get(call)
    if (call === undefined || command === undefined || counted.has(call)) continue
    if (known.has(callIdOf(event))) continue
    counted.add(call)
    add('model', command)
  }
  return ran
}

/** Paths that snapshots do not cover, not all of them if there are many. */
export interface NotCovered {
  readonly paths: readonly UncoveredPath[]
  readonly count: number
}

/** What the snapshots around a command do not cover. */
export interface CommandGaps extends NotCovered {
  /** As in `RanCommand`. */
  readonly turn: number
  /** The id of the Turn, or of the command of the person. */
  readonly key: string
}

/** As the Events name it, in the order of the commands. Pure. */
export function commandGaps(events: readonly WholeEvent[]): readonly CommandGaps[] {
  const owners = new Map<string, Pick<CommandGaps, 'turn' | 'key'>>()
  const gaps: CommandGaps[] = []
  let turn = 0
  for (const { type, turn_id, data } of events) {
    if (type === 'turn_started') turn += 1
    if (type !== 'workspace_snapshot') continue
    const { call_id, uncovered: paths = [], uncovered_count: count = paths.length } = data
    const owner = owners.get(call_id) ?? { turn, key: turn_id ?? call_id }
    owners.set(call_id, owner)
    if (paths.length > 0) gaps.push({ ...owner, paths, count })
  }
  return gaps
}

/** Each path once. */
export function notCovered(gaps: readonly NotCovered[]): NotCovered {
  const all = new Map(gaps.flatMap(({ paths }) => paths.map((one) => [one.path, one])))
  return {
    paths: [...all.values()],
    count: Math.max(all.size, ...gaps.map(({ count }) => count)),
  }
}

/** For people; empty if everything is covered. */
export function notCoveredWords({ paths, count }: NotCovered): string {
  if (paths.length === 0) return ''
  const shown = paths.slice(0, LISTED).map(({ path, why }) => `${path} (${GAPS[why]})`)
  const more = count - shown.length
  return `Not covered by snapshots: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`
}

const GAPS: Readonly<Record<UncoveredPath['why'], string>> = {
  ignored: 'ignored',
  repository: 'a separate repository',
  not_regular_file: 'not a regular file',
  too_large: 'too large',
  unreadable: 'cannot be read',
}

/** The commands for people, the newest last: those of one Turn in one line. At most `LISTED`, and how many more there are. */
export function uncoveredLines(ran: readonly RanCommand[]): string[] {
  const shown = ran.slice(-LISTED)
  const omitted = ran.length - shown.length
  const groups = new Map<string, string[]>()
  for (const { turn, by, command } of shown) {
    const label = {
      model: `Turn ${turn}`,
      skill: `a Skill in Turn ${turn}`,
      person: `you after Turn ${turn}`,
    }[by]
    groups.set(label, [...(groups.get(label) ?? []), quote(shorten(command, COMMAND_BYTES))])
  }
  return [
    ...(omitted === 0 ? [] : [`${omitted} earlier ones`]),
    ...[...groups].map(([label, commands]) => `${label}: ${commands.join(', ')}`),
  ]
}

const LISTED = 10
const COMMAND_BYTES = 100

function coveredCalls(
  events: readonly WholeEvent[],
  isLost: (data: EventData<'workspace_snapshot'>) => boolean,
): ReadonlySet<string | undefined> {
  const known = new Set<string>()
  for (const { type, data } of events)
    if (type === 'workspace_snapshot' && data.after !== undefined && !isLost(data))
      known.add(data.call_id)
  return known
}

function callIdOf({ type, data }: WholeEvent): string | undefined {
  return type === 'command_watched' || type === 'permission_decision' ? data.call_id : undefined
}

/** A command that can write is watched; without a sandbox, the person is always asked before. */
function startedCall(event: WholeEvent): string | undefined {
  const { type, turn_id, data } = event
  if (type === 'command_watched') return `${turn_id} ${data.call_id}`
  const isAllowed =
    type === 'permission_decision' && data.decision === 'allowed' && data.by === 'person'
  return isAllowed ? `${turn_id} ${data.call_id}` : undefined
}

type Hydration = EventData<'skill_context_hydration'>

function couldChange({ produced_by, status, limitations = [] }: Hydration): boolean {
  const isConfined = !limitations.includes(WITHOUT_SANDBOX)
  return produced_by.kind === 'command' && status !== 'denied' && !isConfined
}

function argumentsOf({ produced_by: { args } }: Hydration): string[] {
  return Array.isArray(args) ? args.map(String) : []
}

/** The command of a call; all of its arguments if they are not what the tool accepts. */
function commandIn(text: string): string {
  const args = parseJson(text)
  const command = isJsonObject(args) ? args['command'] : undefined
  return typeof command === 'string' ? command : text
}
