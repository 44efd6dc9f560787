import type { HawserError } from '../../../model/errors.ts'
import type { ListedSession } from '../../../session/queries/list.ts'
import type { ReadEvent } from '../../../session/queries/read-log.ts'
import type { ResourceOf } from '../text/resource-words.ts'

/**
 * A Session as a document, piece by piece: `begin` once, then `event` for every Event in the order of the Log, then `end`.
 * The pieces joined are the document. Pure but for what it remembers of the Events before.
 */
export interface ExportFormat {
  begin(header: ExportHeader): string
  event(read: ReadEvent, resourceOf: ResourceOf): string
  /** `damage` is why the Log could not be read further. */
  end(damage: HawserError | undefined): string
}

export interface ExportHeader {
  readonly session: ListedSession
  /** Version of Hawser. */
  readonly version: string
}
