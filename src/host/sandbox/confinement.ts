import type { EntryKind } from '../../model/error-cause.ts'
import type { Result } from '../../model/errors.ts'
import type { KeepAppeared } from './watch/move-aside.ts'
import type { LimitName } from './limits/limits.ts'

export interface ConfinedCommand {
  readonly argv: readonly string[]
  readonly wallMs: number
  readonly network?: boolean
  readonly stdin?: Uint8Array
  /** Below the workspace. */
  readonly folder?: string
  /** Beside a short list of our own. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Told once, when a command without the network first tries to reach it. It goes on all the same. */
  onNetworkTry?(): void
  /** Gets stdout and stderr in the order they were written; the command waits while a promise is pending. */
  onOutput(chunk: Buffer): void | Promise<void>
}

export interface Exit {
  /** A command that a signal ended in a sandbox has 128 and the signal's number, as in a shell. */
  readonly code: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly interrupted: boolean
  readonly durationMs: number
  /** Protected paths that appeared during the command and were moved away; `Confinement.keep` got their bytes. */
  readonly appeared: readonly string[]
  /** Limits of the sandbox that the command met, with their numbers; as far as the system counts that. */
  readonly limitsMet?: Readonly<Partial<Record<LimitName, number>>>
  /** Files that run later, as in CI, and that the command made or changed; they stay. */
  readonly runsLater: readonly string[]
  /** It had no network and tried to reach it. */
  readonly triedNetwork?: boolean
}

/**
 * Runs a command to its end; when this resolves, nothing of it runs any more. A command that ran is a success, whatever
 * its exit. Else it did not run, and the kind is `sandbox_unavailable`, `outside_workspace`, `protected_path`, `not_found`,
 * `too_large`, or what the disk refused. Throws what `onOutput` throws.
 */
export type ConfinedRun = (command: ConfinedCommand) => Promise<Result<Exit>>

export interface Confinement {
  readonly workspace: string
  readonly writable: 'workspace' | 'nothing'
  /** $HAWSER_HOME */
  readonly home: string
  /**
   * From the workspace's root. What is there is read-only; what appears there is moved away. `.hawser` and, at any depth,
   * what makes git run programs are always among them.
   */
  readonly protectedPaths: readonly string[]
  /**
   * What else programs may read: absolute, or below the person's home as `~/…`. Credentials in it stay hidden unless they
   * are named themselves; `$HAWSER_HOME` and sockets always do.
   */
  readonly readable?: readonly string[]
  /** A guest owns the workspace's `.hawser` and starts sandboxes of its own. */
  readonly guest?: boolean
  /** Gets what appeared at a protected path. Without it, that stays in its folder under a name that nothing reads. */
  readonly keep?: KeepAppeared
  /**
   * Called before a program starts that can write the workspace, with what is protected now: whoever finds it recorded and
   * no result can tell what is new. A failure keeps the program from starting.
   */
  readonly watching?: (places: readonly RecordedPlace[]) => Promise<Result<void>>
}

/** What identifies a protected place to whoever looks later. */
export interface RecordedPlace {
  readonly path: string
  readonly kind: EntryKind
  /** Device and inode. */
  readonly id: string
  /** What a link says. */
  readonly target?: string | undefined
  /** Changes with its content; absent where the sandbox keeps it from changing. */
  readonly stamp?: string | undefined
}
