import type { Duplex } from 'node:stream'
import type { Result } from '../../model/errors.ts'
import type { LimitName } from './limits/limits.ts'

/** A program that lives for hours, such as a guest. It has no stdin and no network. */
export interface LongProgram {
  readonly argv: readonly [string, ...string[]]
  /** Added to the short list that every program gets; see `programEnv`. */
  readonly env?: Readonly<Record<string, string>>
  /** Names of sockets that the program inherits, in order from descriptor 4. It inherits no other descriptor. */
  readonly descriptors: readonly string[]
  /** Without a sandbox, when the operator chose that explicitly. */
  readonly withoutSandbox?: true
  /** Receives stdout and stderr in the order they were written, for a log. Must not throw. */
  onOutput(chunk: Buffer): void
}

/**
 * A started program. It dies with this process, even if that is killed and even while it is paused; without a sandbox, only
 * the program itself does, and only where `setpriv` is installed.
 */
export interface LongProcess {
  readonly pid: number
  /** Our end of the socket with that name. An error of it only ends it, unless a listener is added. */
  descriptor(name: string): Duplex
  /** Resolves when its output was delivered, nothing of it is left, and protected paths were checked. Never rejects. */
  readonly ending: Promise<LongEnding>
  /**
   * Stops it with all its descendants; resolves when none of them runs. Does nothing if it is paused. Fails with `not_found`
   * when it has ended, `timeout` when it starts processes faster than they can be stopped (then all continue), and
   * `unreadable` without /proc.
   */
  pause(): Promise<Result<void>>
  /**
   * Continues what `pause` stopped and returns the milliseconds it was paused; 0 if it was not. `first` is called with them
   * before anything continues. Fails with `not_found` when it has ended.
   */
  resume(first?: (pausedMs: number) => void): Promise<Result<number>>
  /**
   * Checks the protected paths now, as after a command; see `LeftByProcess`. What was found while pausing is included.
   * Meant for the moment when the program has finished a piece of work.
   */
  inspect(): Promise<Result<LeftByProcess>>
  /**
   * Asks the program to end (SIGTERM) and kills it with all its descendants after `graceMs`. A paused one is killed at
   * once. Resolves when nothing is left. May be called more than once.
   */
  stop(graceMs?: number): Promise<void>
}

export interface LongEnding {
  /** In a sandbox, a program that a signal ended has the code 128 plus the signal number, as in a shell. */
  readonly code: number | null
  readonly signal: string | null
  /** Ended by `stop`. */
  readonly wasStopped: boolean
  /** Limits that it reached, with their values, as far as the system counts them. */
  readonly limitsMet?: Readonly<Partial<Record<LimitName, number>>>
  /** What bubblewrap printed. If it is not empty and the code is not 0, the sandbox was not set up and the program never ran. */
  readonly complaint: string
  /** What it left since the last inspection. */
  readonly leftovers: Result<LeftByProcess>
}

export interface LeftByProcess {
  /** Protected paths that appeared; they were moved away and their bytes passed to `Confinement.keep`. */
  readonly appearedPaths: readonly string[]
  /** Files that were created or changed and that something else runs later, such as CI. They stay in place. */
  readonly runsLater: readonly string[]
  /**
   * Protected paths that a program outside replaced after the start. The mount that made them read-only ended with the old
   * file, so the process can change the new one until it is started again. They stay in place.
   */
  readonly unprotectedPaths: readonly string[]
}
