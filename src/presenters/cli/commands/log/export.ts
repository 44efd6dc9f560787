import * as z from 'zod'
import { failed, ok, type Result } from '../../../../model/errors.ts'
import { SessionId } from '../../../../model/ids.ts'
import { Count } from '../../../../model/shape.ts'
import { answer } from '../../world/answer.ts'
import { countOf } from '../../../../encoding/amounts.ts'
import type { CommandInput, Run } from '../../world/command.ts'
import { EXPORT_FORMATS, type LOG_EXPORT } from '../../definitions/log.ts'
import { EXIT } from '../../world/exit-code.ts'
import {
  exportPieces,
  FORMATS,
  writeExport,
  type ExportDocument,
} from '../../export/write-export.ts'
import { reportEnd } from '../../world/log-end.ts'
import { PacedOutput } from '../../world/paced-output.ts'
import { withProgress } from '../../render/progress.ts'
import { sessionNamed } from '../../../../session/workspace/session-reference.ts'
import { visibleLine } from '../../text/visible-text.ts'
import { wholePath } from '../../input/whole-path.ts'
import { inWorkspace } from '../../world/workspace.ts'
import type { OpenWorkspace } from '../../../../session/workspace/workspace.ts'
import type { CliWorld } from '../../world/world.ts'

export const Output = z
  .object({
    ok: z.literal(true),
    session_id: SessionId,
    format: z.enum(EXPORT_FORMATS),
    output: z.string().describe('The file, as given.'),
    events: Count,
    bytes: Count,
  })
  .describe('The result with --output. Without it, standard output is the export itself.')

/**
 * Writes a Session as one document. Exit code 1 if the Log is damaged; the document then ends where the damage begins.
 */
export const run: Run<typeof LOG_EXPORT> = async (world, input) =>
  inWorkspace(world, input.options, (opened) => exportOne(world, opened, input))

async function exportOne(
  world: CliWorld,
  opened: OpenWorkspace,
  { args: [named], options }: CommandInput<typeof LOG_EXPORT>,
): Promise<Result<number>> {
  const { output, json } = options
  if (json && output === undefined && (options.format ?? 'json') !== 'json') {
    return failed('invalid_args', 'Without --output, --json is the same as --format json.')
  }
  const format = options.format ?? (json && output === undefined ? 'json' : 'markdown')
  const { harness } = opened
  const id = await sessionNamed(harness, named)
  if (!id.ok) return id
  const session = await harness.find(id.value)
  if (!session.ok) return session
  const document = {
    harness,
    session: session.value,
    format: FORMATS[format](),
    version: world.version,
  }
  if (output === undefined) return toStdout(world, document, format === 'json')
  const written = await withProgress(world, 'Writing the export', () =>
    toFile(world, document, output),
  )
  if (!written.ok) return written
  const { end, bytes, events } = written.value
  const result = { session_id: id.value, format, output, events, bytes }
  const words = `Wrote ${visibleLine(output)}: ${countOf(events, 'Event')}, ${countOf(bytes, 'byte')}.\n`
  // For a damaged Log, the only JSON output is the error. The file is written nevertheless.
  if (!json || end.damage === undefined) answer(world, result, () => words)
  return reportEnd(world, end)
}

async function toStdout(
  world: CliWorld,
  document: ExportDocument,
  json: boolean,
): Promise<Result<number>> {
  const { stdout } = world.streams
  const output = new PacedOutput(stdout)
  const written = await exportPieces(document, async (text) => ok(await output.write(text)))
  await output.flush()
  if (!written.ok) return written
  if (stdout.isBroken) return ok(EXIT.done)
  // The document contains the error; a second JSON value after it would make the output invalid.
  if (json) return ok(written.value.end.damage === undefined ? EXIT.done : EXIT.failed)
  return reportEnd(world, written.value.end)
}

async function toFile(
  world: CliWorld,
  document: ExportDocument,
  path: string,
): ReturnType<typeof writeExport> {
  if (path === '') return failed('invalid_args', '--output requires a file name.')
  const whole = wholePath(world, path)
  return whole.ok ? writeExport(document, whole.value) : whole
}
