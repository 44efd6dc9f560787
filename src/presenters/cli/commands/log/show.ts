import { SessionResources } from '../../../../history/session-resources.ts'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { definedFields } from '../../../../model/fields/defined-fields.ts'
import type { ReadEvent } from '../../../../session/reading/read-log.ts'
import { wantsColour } from '../../world/answer.ts'
import { terminalText } from '../../text/cell-width.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import type { LOG_SHOW } from '../../definitions/log.ts'
import { eventLines } from '../../render/event-lines.ts'
import { EXIT } from '../../world/exit-code.ts'
import { jsonLine } from '../../text/json-line.ts'
import { reportEnd } from '../../world/log-end.ts'
import { stopOnSignals } from '../../world/until-stopped.ts'
import { PacedOutput } from '../../world/paced-output.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { TurnFilter } from '../../../../history/turn-filter.ts'
import { EventLine } from '../../render/turn-lines.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

/** One line of standard output. If the Log is damaged, an error follows the readable Events. */
export const Output = EventLine.describe('JSON Lines: each Event exactly as in the Log.')

/** Shows the Events of a Session; with `--follow`, until a signal. Exit code 1 if the Log is damaged. */
export const run: Run<typeof LOG_SHOW> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => show(world, opened, input))

async function show(
  world: CliWorld,
  { harness, settings: { settings } }: OpenWorkspace,
  { args: [named], options }: CommandInput<typeof LOG_SHOW>,
): Promise<Result<number>> {
  const { json, follow } = options
  const filter = TurnFilter.of(options.turn)
  if (!filter.ok) return filter
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const { stdout } = world.streams
  const output = new PacedOutput(stdout)
  const colour = wantsColour(world, stdout, settings.display?.colour)
  const resources = new SessionResources()
  const textOf = json ? asLine : (read: ReadEvent) => asWords(read, resources, colour)
  const stopping = follow ? stopOnSignals(world) : undefined
  try {
    const reading = {
      // JSON output is the stored lines, so long fields need not be loaded.
      ...(json ? { types: [] } : {}),
      ...definedFields({ follow: stopping?.signal }),
    }
    const end = await harness.read(id.value, reading, async (read) => {
      const passes = filter.value.take(read.raw)
      if (read.event !== undefined) resources.add(read.event)
      const isOpen = passes ? await output.write(textOf(read)) : !stdout.isBroken
      if (follow) await output.flush()
      return isOpen && (follow || !filter.value.over) ? undefined : false
    })
    await output.flush()
    if (!end.ok || stdout.isBroken) return end.ok ? ok(EXIT.done) : end
    const missing = filter.value.missing
    if (missing !== undefined && end.value.damage === undefined && !follow) {
      return failed('not_found', 'No such Turn in this Session.', { turns: missing.turns }, [
        { action: 'Show the whole Session.', command: `hawser log show ${id.value}` },
      ])
    }
    return reportEnd(world, end.value)
  } finally {
    stopping?.stopListening()
  }
}

function asLine({ raw }: ReadEvent): string {
  return jsonLine(raw)
}

function asWords(read: ReadEvent, resources: SessionResources, colour: boolean): string {
  const lines = eventLines(read, (id) => resources.byId(id)?.descriptor)
  return terminalText(lines, colour)
}
