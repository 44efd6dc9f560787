import type { HawserError } from '../../model/errors.ts'
import type { ServerRecord } from './server-lock.ts'

export interface ServeOptions {
  /** Default: 4600, or the next free port. */
  readonly port?: number | undefined
}

/** The local server in this process. Serves until it is closed. */
export interface RunningServer {
  readonly record: ServerRecord
  /** Why it listens on the port only. */
  readonly withoutSocket: HawserError | undefined
  /** A code for its page: see `PageCodes`. */
  pageCode(): string
  /** Aborts when the command line asks it to stop. */
  readonly stopRequested: AbortSignal
  /** Ends every connection, closes every workspace and releases the home. May be called twice. */
  close(): Promise<void>
}
