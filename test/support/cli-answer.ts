import { ErrorBody } from '../../src/model/error-shape.ts'
import type { HawserError } from '../../src/model/errors.ts'
import type { CliRun } from './cli.ts'

/** What a command with `--json` says went wrong: its last line. */
export function failureOf({ stdout }: CliRun): HawserError {
  return ErrorBody.parse(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).error
}

/** What must never reach a terminal from outside: controls but the newline, and what turns text around. */
export const UNSEEN = /(?!\n)[\p{Cc}\u202a-\u202e]/u
