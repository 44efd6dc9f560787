import { ErrorBody } from '../../../src/model/error-shape.ts'
import type { HawserError } from '../../../src/model/errors.ts'
import type { CliRun } from './cli.ts'

/** The error that a command with `--json` reports in its last line. */
export function failureOf({ stdout }: CliRun): HawserError {
  return ErrorBody.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).error
}

/** What outside text must never send to a terminal: control characters except the newline, and bidi overrides. */
export const UNSAFE_CHARACTER = /(?!\n)[\p{Cc}\u202a-\u202e]/u
