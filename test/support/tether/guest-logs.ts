import { systemClock } from '../../../src/host/clock.ts'
import type { FolderPlace } from '../../../src/host/files/disk.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import type { Ids } from '../../../src/host/ids.ts'
import { fileHeads } from '../../../src/log/files/file-heads.ts'
import type { GuestLogsParts } from '../../../src/tether/server/guest-logs.ts'
import { fileRecords } from '../../../src/tether/records/files/file-records.ts'
import { fileFrameStore } from '../../../src/tether/frames/files/file-store.ts'

/** What the server needs to read the Logs of a guest in files, with its own heads of them in `heads`. */
export function guestLogsIn(place: {
  readonly instance: string
  readonly workspace: FolderPlace
  readonly heads: Folder
  readonly ids: Ids
}): GuestLogsParts {
  const { instance, workspace, heads, ids } = place
  const home = { home: heads, clock: systemClock, ids }
  const records = fileRecords({ ...home, frames: fileFrameStore(home) })
  return { instance, workspace, heads: fileHeads({ heads, ids }), records }
}
