import { EXIT_CODES } from '../../../model/exit-codes.ts'
import type { ErrorKind } from '../../../model/errors.ts'

/** What the program tells whoever started it, beyond what an error's kind says. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: EXIT_CODES.invalid_args,
  nobodyToAsk: EXIT_CODES.permission_denied,
  interrupted: EXIT_CODES.interrupted,
  timedOut: EXIT_CODES.timeout,
  hangup: 129,
  terminated: 143,
} as const

/** A folder that the system denies is no call that nobody could be asked about: only a Turn ends with that code. */
export function exitCodeOf(kind: ErrorKind): number {
  return kind === 'permission_denied' ? EXIT.failed : EXIT_CODES[kind]
}
