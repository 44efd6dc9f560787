import type { EntryKind } from '../../model/error-cause.ts'
import type { FolderIdentity } from '../../model/folder-identity.ts'
import type { Result } from '../../model/errors.ts'
import type { KeepMovedFile } from './watch/move-aside.ts'
import type { LimitName } from './limits/limits.ts'

export interface ConfinedCommand {
  readonly argv: readonly string[]
  readonly wallMs: number
  readonly network?: boolean
  readonly stdin?: Uint8Array
  /** Relative to the workspace. */
  readonly folder?: string
  /**
   * A program of our own that lists or searches files and enters no `.hawser`. If it cannot write, the workspace is not
   * scanned for nested ones: only those in the register are hidden.
   */
  readonly searches?: true
  /** Added to the short list that every program gets; see `programEnv`. */
  readonly env?: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Called once, when a command without network access first tries to use the network. The command keeps running. */
  onNetworkTry?(): void
  /** Receives stdout and stderr in the order they were written. The command is paused while a returned promise is pending. */
  onOutput(chunk: Buffer): void | Promise<void>
}

export interface Exit {
  /** In a sandbox, a command that a signal ended has the code 128 plus the signal number, as in a shell. */
  readonly code: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly wasInterrupted: boolean
  readonly durationMs: number
  /** Protected paths that the command created; they were moved away and their bytes passed to `Confinement.keep`. */
  readonly appearedPaths: readonly string[]
  /** Limits that the command reached, with their values, as far as the system counts them. */
  readonly limitsMet?: Readonly<Partial<Record<LimitName, number>>>
  /** Files that the command created or changed and that something else runs later, such as CI. They stay in place. */
  readonly runsLater: readonly string[]
  /** The command had no network access and tried to use the network. */
  readonly triedNetwork?: boolean
}

/**
 * Runs a command to completion. When the promise resolves, no process of the command is left. A command that ran is a
 * success, whatever its exit code. Otherwise it did not run, and the error kind is `sandbox_unavailable`,
 * `outside_workspace`, `protected_path`, `not_found`, `too_large` or a disk error. Throws what `onOutput` throws.
 */
export type ConfinedRun = (command: ConfinedCommand) => Promise<Result<Exit>>

export interface Confinement {
  readonly workspace: string
  /**
   * Which folder the workspace must be, however long ago that was checked. Default: the one that its path leads to when the
   * command starts.
   */
  readonly identity?: FolderIdentity | undefined
  readonly writable: 'workspace' | 'nothing'
  /** $HAWSER_HOME */
  readonly home: string
  /**
   * Relative to the workspace. Existing ones are read-only; new ones are moved away when the command ends. Every `.hawser`
   * and everything that makes git run programs are always protected, at any depth.
   */
  readonly protectedPaths: readonly string[]
  /**
   * Further paths that programs may read: absolute, or below the user's home as `~/…`. Credentials in them stay hidden
   * unless the list names them explicitly. `$HAWSER_HOME` and sockets are always hidden.
   */
  readonly readable?: readonly string[]
  /** A guest starts its own sandboxes. */
  readonly guest?: boolean
  /** Absolute path of a folder that a guest sees, and may write to, as the `.hawser` of the workspace, which is hidden. */
  readonly records?: string
  /**
   * The program is a command of a guest. A new `.hawser` below the root is left to the server, which inspects the guest and
   * knows whether another process of its home created it; the guest cannot.
   */
  readonly ofGuest?: boolean
  /**
   * Absolute path of a folder below `$HAWSER_HOME` that the program may write to, at the same path. The rest of
   * `$HAWSER_HOME` stays hidden.
   */
  readonly ownHome?: string
  /** Receives what appeared at a protected path. Without it, the file stays in its folder under a name that nothing reads. */
  readonly keep?: KeepMovedFile
  /**
   * Called before a program that can write to the workspace starts, with the current state of the protected paths. If a
   * recorded state has no matching result, a later process can compare and find what is new. On failure the program does
   * not start.
   */
  readonly watching?: (places: readonly RecordedPlace[]) => Promise<Result<void>>
}

/** Identifies a protected path for a later comparison. */
export interface RecordedPlace {
  readonly path: string
  readonly kind: EntryKind
  /** Device and inode. */
  readonly id: string
  /** The target of a symbolic link. */
  readonly target?: string | undefined
  /** Changes with the content. Absent where the sandbox prevents changes. */
  readonly stamp?: string | undefined
}
