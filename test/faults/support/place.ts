import { join } from 'node:path'
import { workspaceBlobStore } from '../../../src/blobs/workspace-store.ts'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import type { Folder } from '../../../src/host/files/files.ts'
import { thisProcess } from '../../../src/host/process/holder.ts'
import { openHome } from '../../../src/host/home.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { workspaceFolders } from '../../../src/host/workspace.ts'
import { filePlace, type FilePlace } from '../../support/log/file-place.ts'
import type { KeepBlob } from '../../../src/log/spill.ts'
import { withBug, type PlantedBug } from '../../support/host/planted-bugs.ts'
import { value } from '../../support/log/story.ts'

/** The open parts of one workspace. Unlike in other tests it can be closed, because disks are unmounted. */
export interface FaultPlace {
  readonly place: FilePlace
  readonly store: BlobStore
  readonly keep: KeepBlob
  close(): Promise<void>
}

export const PROGRAM = 'hawser'

/** A workspace and a home below `root`, which exists. The holder is this process. */
export async function openPlace(root: string, bug?: PlantedBug): Promise<FaultPlace> {
  const ids = systemIds(systemClock)
  const own = (folder: Folder) => (bug === undefined ? folder : withBug(folder, bug))
  const below = await diskFolder(root)
  const folder = await below.folder('workspace', 'create')
  const workspace = await workspaceFolders(folder, ids)
  await below.close()
  await folder.close()
  const home = value(await openHome(join(root, 'home')))
  const store = workspaceBlobStore({ folder: own(workspace.blobs), ids, clock: systemClock })
  return {
    place: filePlace({
      sessions: own(workspace.sessions),
      heads: own(home.heads),
      clock: systemClock,
      ids,
      holder: thisProcess(PROGRAM),
    }),
    store,
    keep: (bytes, mediaType) => store.put([bytes], mediaType),
    close: async () => void (await Promise.all([workspace.close(), home.close()])),
  }
}
