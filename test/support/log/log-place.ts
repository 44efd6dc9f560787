import { workspaceBlobStore } from '../../../src/blobs/workspace-store.ts'
import type { BlobStore } from '../../../src/blobs/store.ts'
import { systemClock, type Clock } from '../../../src/host/clock.ts'
import { closing, type Folder } from '../../../src/host/files/files.ts'
import { systemIds, type Ids } from '../../../src/host/ids.ts'
import { workspaceFolders } from '../../../src/host/workspace.ts'
import type { KeepBlob } from '../../../src/log/spill.ts'
import { filePlace, type FilePlace } from './file-place.ts'

/** A workspace and a home side by side, with everything that a Log and a blob store need. */
export interface TestPlace {
  readonly place: FilePlace
  readonly blobs: Folder
  readonly store: BlobStore
  readonly keep: KeepBlob
  close(): Promise<void>
}

export async function testPlace(
  root: Folder,
  clock: Clock = systemClock,
  ids: Ids = systemIds(clock),
): Promise<TestPlace> {
  const folders = await closing(await root.folder('workspace', 'create'), (workspace) =>
    workspaceFolders(workspace, ids),
  )
  const { sessions, blobs } = folders
  const heads = await closing(await root.folder('home', 'create'), (home) =>
    home.folder('heads', 'create'),
  )
  const holder = { pid: 4711, program: 'story', since: '2026-01-31T12:00:00.000Z' }
  const store = workspaceBlobStore({ folder: blobs, ids, clock })
  return {
    place: filePlace({ sessions, heads, clock, ids, holder }),
    blobs,
    store,
    keep: (bytes, mediaType) => store.put([bytes], mediaType),
    close: async () => {
      await Promise.all([folders.close(), heads.close()])
    },
  }
}

/** A clock whose timers fire in the next turn of the event loop, so that no test sleeps. */
export const immediateClock: Clock = {
  ...systemClock,
  after: (_ms, then) => {
    const soon = setImmediate(then)
    return () => clearImmediate(soon)
  },
}
