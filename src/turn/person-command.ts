import { openWatches } from '../history/open-watch.ts'
import { elapsedMs, type Clock } from '../host/clock.ts'
import type { RecordedPlace } from '../host/sandbox/confinement.ts'
import { failed, ok, type Failed, type Result } from '../model/errors.ts'
import type { EventData, EventDraft, WholeEvent } from '../model/events/event.ts'
import { LIMITS } from '../model/limits.ts'
import { definedFields } from '../model/fields/defined-fields.ts'
import type { BashContext } from '../tools/bash.ts'
import type { TurnParts } from './parts/turn-parts.ts'

/** What a command of the person needs, besides its text. */
export interface PersonCommandParts {
  readonly log: {
    readonly events: () => readonly WholeEvent[]
    /** Appends Events that belong to no Turn. */
    readonly record: (drafts: readonly EventDraft[]) => Promise<Result<void>>
    readonly clock: Clock
  }
  /** Names this command in Events and notices. */
  readonly command_id: string
  readonly since: TurnParts['tools']['inspection']['since']
  /** `watching` records the protected paths before the command starts. */
  readonly contextWith: (
    watching: (paths: readonly RecordedPlace[]) => Promise<Result<void>>,
  ) => BashContext
}

/**
 * Runs a command that the person typed, in the sandbox, without a question. Its start is durable before it runs, and its end
 * when this resolves. A command that ran is a success, whatever its exit code.
 */
export async function runPersonCommand(
  parts: PersonCommandParts,
  command: string,
): Promise<Result<EventData<'shell_result'>>> {
  const refused = unfitCommand(command) ?? (await heldBack(parts))
  if (refused !== undefined) return refused
  const { command_id, log } = parts
  const context = parts.contextWith((paths) =>
    log.record([{ type: 'command_watched', data: { call_id: command_id, paths: [...paths] } }]),
  )
  const { folder } = context
  const where = folder === undefined ? {} : { folder }
  const begun = await log.record([
    { type: 'shell_command', data: { command_id, command, ...where } },
  ])
  if (!begun.ok) return begun
  const started = log.clock.monotonicMs()
  const { runBash } = await import('../tools/bash.ts')
  const ran = await runBash({ command, timeout_ms: LONGEST_MS }, context, TRIED_NETWORK)
  const {
    outcome,
    error,
    output,
    truncated,
    whole_blob,
    exit_code,
    movedPaths: moved,
    runs_later,
  } = ran
  const data: EventData<'shell_result'> = {
    command_id,
    outcome: outcome === 'ok' ? 'ok' : 'failed',
    ...definedFields({ error }),
    output,
    ...(truncated === true ? { truncated } : {}),
    ...definedFields({ whole_blob, exit_code }),
    duration_ms: elapsedMs(log.clock, started),
    ...definedFields({ moved, runs_later }),
  }
  const ended = await log.record([{ type: 'shell_result', data }])
  return ended.ok ? ok(data) : ended
}

/** The person can interrupt it at any time. */
const LONGEST_MS = 3_600_000

const TRIED_NETWORK = 'it tried to reach the network, which is off in the sandbox'

function unfitCommand(command: string): Failed | undefined {
  if (command.trim() === '') return failed('invalid_args', 'The command is empty.')
  if (command.includes('\0')) return failed('invalid_args', 'The command contains a NUL character.')
  const actual = Buffer.byteLength(command)
  const limit = LIMITS.person_command_bytes
  if (actual <= limit) return undefined
  const message = `The command has ${actual} bytes; the limit is ${limit}.`
  return failed('too_large', message, { limit, actual })
}

/** Files that a killed command left may run with the next one. The next Turn asks about them. */
async function heldBack({ log, since }: PersonCommandParts): Promise<Failed | undefined> {
  for (const watch of openWatches(log.events())) {
    const found = await since(watch.data.paths)
    if (!found.ok) return found
    if (found.value.length === 0) continue
    const paths = found.value.map(({ path }) => path)
    const message = `An earlier command was killed and may have left files at protected paths. No command runs until you have decided about them.`
    return failed('permission_denied', message, { paths }, [
      { action: 'Send a message: you are asked about the files first.' },
    ])
  }
  return undefined
}
