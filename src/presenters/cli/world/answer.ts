import { ok, type HawserError, type Result } from '../../../model/errors.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'
import { failureAsJson, failureAsText, showHelp } from './failure.ts'
import { jsonLine } from '../text/json-line.ts'
import type { CliWorld } from './world.ts'

/** Prints the result of a command, as one JSON object or as text. Exit code 0. */
export function answer(
  { json, streams }: Pick<CliWorld, 'json' | 'streams'>,
  data: object,
  words: () => string,
): Result<number> {
  streams.stdout.write(json === true ? jsonLine({ ok: true, ...data }) : words())
  return ok(EXIT.done)
}

/** Prints an error, as JSON on standard output or as text on standard error, and returns its exit code. */
export function refuse(world: CliWorld, refused: HawserError): number {
  const error = withNextStep(refused, world.command)
  if (world.json === true) world.streams.stdout.write(failureAsJson({ ok: false, error }))
  else world.streams.stderr.write(failureAsText({ error }))
  return exitCodeOf(error.kind)
}

/** A usage error without a next step points to the help of its command. */
function withNextStep(error: HawserError, command: string | undefined): HawserError {
  const isUsage = error.kind === 'invalid_args' && error.next_actions.length === 0
  return isUsage && command !== undefined ? { ...error, next_actions: [showHelp(command)] } : error
}

/** Whether output to a stream is coloured: on a terminal, unless the settings or NO_COLOR override that. */
export function wantsColour(
  { env }: CliWorld,
  stream: { readonly isTTY: boolean },
  setting: 'auto' | 'always' | 'never' = 'auto',
): boolean {
  // https://no-color.org: present and not empty.
  if (setting !== 'auto') return setting === 'always'
  if ((env['NO_COLOR'] ?? '') !== '') return false
  return stream.isTTY && env['TERM'] !== 'dumb'
}
