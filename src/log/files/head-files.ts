import type { Folder } from '../../host/files/files.ts'
import type { Ids } from '../../host/ids.ts'

/** What heads in files need. */
export interface HeadFiles {
  /** `$HAWSER_HOME/heads`: outside the workspace, so that changes to a Log there are detected. */
  readonly heads: Folder
  readonly ids: Pick<Ids, 'temporary'>
}
