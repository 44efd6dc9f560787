import type { HawserError } from '../../model/errors.ts'
import type { DaemonRecord } from './daemon-lock.ts'

export interface ServeOptions {
  /** Default: 4600, or the next free port. */
  readonly port?: number | undefined
}

/** The local server in this process. Serves until it is closed. */
export interface RunningServer {
  readonly record: DaemonRecord
  /** Why it listens on the port only. */
  readonly withoutSocket: HawserError | undefined
  /** Ends every connection, closes every workspace and releases the home. May be called twice. */
  close(): Promise<void>
}
