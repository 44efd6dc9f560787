import type { TurnResult } from '../../../history/results/turn-result.ts'
import { EXIT_CODES } from '../../../model/exit-codes.ts'
import type { ErrorKind } from '../../../model/errors.ts'

/** The exit codes of the program. */
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

/** A folder that the system denies is not a denied call: only a Turn ends with that code. */
export function exitCodeOf(kind: ErrorKind): number {
  return kind === 'permission_denied' ? EXIT.failed : EXIT_CODES[kind]
}

/** How a command that ran one Turn exits. */
export function exitCodeOfTurn({ status, error, cut, text, denied }: TurnResult): number {
  if (status === 'interrupted') return error?.kind === 'timeout' ? EXIT.timedOut : EXIT.interrupted
  // The only errors of the model with a separate code, because a person can fix them.
  if (error?.kind === 'auth' || error?.kind === 'not_configured') return exitCodeOf(error.kind)
  if (status !== 'completed') return EXIT.failed
  // Lost calls did not run, or there is no answer at all.
  if (cut !== undefined && (cut.lost_calls > 0 || text === '')) return EXIT.failed
  return denied > 0 ? EXIT.nobodyToAsk : EXIT.done
}
