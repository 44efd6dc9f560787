import type { HawserError } from '../../../model/errors.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { ReadEvent } from '../../../session/reading/read-log.ts'
import type { ResourceOf } from '../../../history/session-resources.ts'

/**
 * Writes a Session as a document in pieces: `begin` once, then `event` for every Event in Log order, then `end`. The
 * concatenated pieces are the document. Pure except for state from earlier Events.
 */
export interface ExportFormat {
  begin(header: ExportHeader): string
  event(read: ReadEvent, resourceOf: ResourceOf): string
  /** `damage` is the reason why the Log could not be read further. */
  end(damage: HawserError | undefined): string
}

export interface ExportHeader {
  readonly session: ListedSession
  /** The Hawser version. */
  readonly version: string
}
