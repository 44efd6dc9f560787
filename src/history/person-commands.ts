import { HeadTail } from '../encoding/head-tail.ts'
import { countOf } from '../encoding/amounts.ts'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import type { PersonCommand } from '../model/events/tool-events.ts'
import { LIMITS } from '../model/limits.ts'
import { utf8Bytes } from '../model/shape.ts'
import { historyOf, type ResumeState } from './history.ts'
import { refusedTurns } from './refused-turns.ts'
import { summaryTurns } from './summary-turns.ts'
import { withoutCalls } from './without-calls.ts'

/** The commands since the last message that was not refused, as the next one has them, the oldest first. Pure. */
export function pendingCommands(
  all: readonly WholeEvent[],
): Pick<EventData<'user_message'>, 'shell' | 'shell_omitted'> {
  const { state, events } = historyOf(all)
  const { shell, omitted } = fitCommands(commandsAfter(state, events), LIMITS.message_command_bytes)
  return {
    ...(shell.length === 0 ? {} : { shell }),
    ...(omitted === 0 ? {} : { shell_omitted: omitted }),
  }
}

/** The same for a checkpoint: pending commands among `events`, which follow `state`, in at most `most` bytes. Pure. */
export function carriedCommands(
  state: ResumeState,
  events: readonly WholeEvent[],
  most: number,
): readonly PersonCommand[] {
  return fitCommands(commandsAfter(state, events), most).shell
}

function commandsAfter(
  { commands = [] }: ResumeState,
  events: readonly WholeEvent[],
): readonly PersonCommand[] {
  const pending = new Map(commands.map((command, at) => [String(at), command]))
  // Also in a Turn that is refused at once, its message is recorded.
  const unseen = new Set([...refusedTurns(events), ...summaryTurns(events)])
  for (const event of withoutCalls(events)) {
    const { type, turn_id } = event
    if (type === 'shell_command') {
      const { command_id, command, folder } = event.data
      const where = folder === undefined ? {} : { folder }
      pending.set(command_id, { command, ...where, outcome: 'unknown', output: '' })
    }
    const started = type === 'shell_result' ? pending.get(event.data.command_id) : undefined
    if (type === 'shell_result' && started !== undefined) {
      const { command_id, outcome, exit_code, output, truncated } = event.data
      const ended = exit_code === undefined ? {} : { exit_code }
      const cut = truncated === true ? { truncated } : {}
      pending.set(command_id, { ...started, outcome, ...ended, output, ...cut })
    }
    const isNew = type === 'user_message' && event.data.steer !== true
    if (isNew && (turn_id === undefined || !unseen.has(turn_id))) pending.clear()
  }
  return [...pending.values()]
}

/** The newest commands whose text fits; their outputs share what is left, the newest first. */
function fitCommands(commands: readonly PersonCommand[], most: number) {
  let left = most
  const fitting: PersonCommand[] = []
  for (const one of commands.toReversed()) {
    left -= sizeOf({ ...one, output: '' })
    if (left < 0 || fitting.length === MOST_COMMANDS) break
    fitting.push(one)
  }
  left = Math.max(0, left)
  const shell = fitting.map((one) => {
    const shown = shortOutput(one, left)
    left = Math.max(0, left - sizeOf(shown.output))
    return shown
  })
  return { shell: shell.toReversed(), omitted: commands.length - shell.length }
}

const MOST_COMMANDS = 20

/** What a note about the missing part needs. */
const NOTE_BYTES = 80

function shortOutput(one: PersonCommand, most: number): PersonCommand {
  if (sizeOf(one.output) <= most) return one
  // JSON may need several bytes for one.
  const share = Math.max(0, Math.floor((most - NOTE_BYTES) / 2))
  const shown = new HeadTail(share)
  shown.push(Buffer.from(one.output))
  const { head, tail, left_out_bytes } = shown.end()
  const note = `[${countOf(left_out_bytes, 'byte')} omitted here]`
  const output = [head, note, tail].filter((part) => part !== '').join('\n')
  return { ...one, output, truncated: true }
}

/** As in the Event. */
function sizeOf(value: unknown): number {
  return utf8Bytes(JSON.stringify(value))
}
