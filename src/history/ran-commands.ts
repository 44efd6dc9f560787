import { quote, shorten } from '../encoding/quote.ts'
import { isJsonObject, parseJson } from '../encoding/json.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { TurnId } from '../model/ids.ts'

/** A command that could change files. The Log does not record what it changed. */
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
] as const

/**
 * The commands that could change files, in the order in which they started. Omits those that ran with everything read-only:
 * such a command is not watched, and no person was asked about it. Pure.
 */
export function ranCommands(events: readonly WholeEvent[]): RanCommand[] {
  const calls = new Map<string, string>()
  const counted = new Set<string>()
  const ran: RanCommand[] = []
  let turn = 0
  for (const event of events) {
    const { turn_id } = event
    const add = (by: RanCommand['by'], command: string) =>
      ran.push({ turn, ...(turn_id === undefined ? {} : { turn_id }), by, command })
    if (event.type === 'turn_started') turn += 1
    if (event.type === 'shell_command') add('person', event.data.command)
    if (event.type === 'skill_context_hydration' && couldChange(event.data))
      add('skill', [event.data.produced_by.name, ...argumentsOf(event.data)].join(' '))
    if (event.type === 'tool_call' && event.data.name === 'bash')
      calls.set(`${turn_id} ${event.data.call_id}`, commandIn(event.data.arguments))
    const call = startedCall(event)
    const command = call === undefined ? undefined : calls.get(call)
    if (call === undefined || command === undefined || counted.has(call)) continue
    counted.add(call)
    add('model', command)
  }
  return ran
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
