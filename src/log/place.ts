import type { Clock } from '../host/clock.ts'
import type { Folder } from '../host/files/files.ts'
import type { Holder } from '../host/process/holder.ts'
import type { Ids } from '../host/ids.ts'
import type { SessionId } from '../model/ids.ts'

/** Where the Logs of one workspace are, and the ports that writing one needs. */
export interface LogPlace {
  /** `<workspace>/.hawser/sessions` */
  readonly sessions: Folder
  /** `$HAWSER_HOME/heads`: outside the workspace, so that changes to a Log there are detected. */
  readonly heads: Folder
  readonly clock: Clock
  readonly ids: Ids
  readonly holder: Holder
  /**
   * Identifies the schemas of Events in this build; another build has the same value only if it accepts the same Events.
   * Without it, every line is checked against its schema whenever it is read.
   */
  readonly schemas?: string | undefined
}

/** File names of a Session. Ids are already validated, so they are safe in a path. */
export const logName = (session: SessionId) => `${session}.ndjson`
export const leaseName = (session: SessionId) => `${session}.lease`
export const indexName = (session: SessionId) => `${session}.index`
export const tornName = (session: SessionId, piece: string) => `${session}.torn-${piece}`
