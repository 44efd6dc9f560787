import { EXIT_CODES } from '../../model/error-shape.ts'
import type { ErrorKind } from '../../model/errors.ts'

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

export function exitCodeOf(kind: ErrorKind): number {
  return EXIT_CODES[kind]
}
