import type { HawserError } from '../../../model/errors.ts'
import { exitCodeOf } from './exit-code.ts'
import { failureAsJson, failureAsText } from './failure.ts'
import { jsonLine } from '../text/json-line.ts'
import type { CliWorld } from './world.ts'

/** The answer of a command: as one JSON object, or in words. Exit code 0. */
export function answer(world: CliWorld, json: boolean, data: object, words: () => string): number {
  world.streams.stdout.write(json ? jsonLine({ ok: true, ...data }) : words())
  return 0
}

/** A failure, on standard output as JSON or on standard error in words, and the exit code that goes with it. */
export function refuse(world: CliWorld, json: boolean, error: HawserError): number {
  if (json) world.streams.stdout.write(failureAsJson({ ok: false, error }))
  else world.streams.stderr.write(failureAsText({ error }))
  return exitCodeOf(error.kind)
}

/** Whether a stream gets colours: where a terminal is, unless somebody said otherwise. */
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
