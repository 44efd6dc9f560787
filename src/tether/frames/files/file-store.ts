import type { Clock } from '../../../host/clock.ts'
import {
  asResult,
  closing,
  FileFailure,
  ifPossible,
  ifThere,
  type Folder,
} from '../../../host/files/files.ts'
import type { Ids } from '../../../host/ids.ts'
import { folderSource } from '../../../host/files/raw-source.ts'
import { failed, ok, type Failed, type Result } from '../../../model/errors.ts'
import { InstanceId } from '../../../model/ids.ts'
import type { FrameStore } from '../frame-store.ts'
import { LEASE, openFileFrames } from './file-frames.ts'

export interface FileStoreParts {
  /** `$HAWSER_HOME`. */
  readonly home: Folder
  readonly clock: Clock
  readonly ids: Pick<Ids, 'temporary'>
}

const INSTANCES = 'instances'
const FRAMES = 'frames'

/** Frames as files in the folder of each Instance, see ADR 22. */
export function fileFrameStore({ home, clock, ids }: FileStoreParts): FrameStore {
  return {
    open: (instance, options) =>
      withId(instance, async (id) => {
        const opened = await asResult('open the frames of the Instance', async () =>
          ok(await createdFolder(home, id)),
        )
        if (!opened.ok) return opened
        const folder = opened.value
        const frames = await openFileFrames({ folder, clock, ids }, options)
        if (!frames.ok) await ifPossible(folder.close())
        return frames
      }),
    list: () => asResult('list the frames of Instances', async () => ok(await instancesIn(home))),
    raw: (instance) =>
      withId(instance, (id) =>
        asResult('read the frames of the Instance', async () => {
          const folder = await existingFolder(home, id)
          if (folder === undefined) return ok(undefined)
          if ((await folder.names()).some(isStored)) return ok(folderSource(folder))
          await folder.close()
          return ok(undefined)
        }),
      ),
    delete: (instance) =>
      withId(instance, (id) =>
        asResult('delete the frames of the Instance', async () => {
          const folder = await existingFolder(home, id)
          if (folder !== undefined) await closing(folder, () => deleteAll(folder))
          return ok(undefined)
        }),
      ),
  }
}

async function withId<T>(
  given: string,
  work: (id: InstanceId) => Promise<Result<T>>,
): Promise<Result<T>> {
  const id = InstanceId.safeParse(given)
  return id.success ? work(id.data) : badId()
}

/** The id is untrusted, so the message does not repeat it. */
function badId(): Failed {
  return failed('invalid_args', 'This is not the id of an Instance.')
}

/** The folder of an Instance is created by its first use. */
async function createdFolder(home: Folder, id: InstanceId): Promise<Folder> {
  const instances = await existing(home, INSTANCES)
  const own = await closing(instances, () => existing(instances, id))
  return closing(own, () => own.folder(FRAMES, 'create'))
}

/** Creates a folder only if it is missing, because that waits for the disk. */
async function existing(parent: Folder, name: string): Promise<Folder> {
  return (await ifThere(parent.folder(name, 'open'))) ?? parent.folder(name, 'create')
}

async function existingFolder(home: Folder, id: InstanceId): Promise<Folder | undefined> {
  const instances = await ifThere(home.folder(INSTANCES, 'open'))
  const own = instances && (await closing(instances, () => ifThere(instances.folder(id, 'open'))))
  return own && closing(own, () => ifThere(own.folder(FRAMES, 'open')))
}

async function instancesIn(home: Folder): Promise<InstanceId[]> {
  const instances = await ifThere(home.folder(INSTANCES, 'open'))
  if (instances === undefined) return []
  const names = await closing(instances, () => instances.names())
  const found: InstanceId[] = []
  for (const name of names) {
    const id = InstanceId.safeParse(name).data
    const folder = id && (await existingFolder(home, id))
    if (id === undefined || folder === undefined) continue
    const isPresent = (await closing(folder, () => folder.names())).some(isStored)
    if (isPresent) found.push(id)
  }
  return found
}

function isStored(name: string): boolean {
  return name !== LEASE
}

async function deleteAll(folder: Folder): Promise<void> {
  const lease = await folder.open(LEASE, 'lease')
  await closing(lease, async () => {
    if (!(await lease.tryLock())) throw new FileFailure('LOCK_HELD', 'the frame log is open')
    for (const name of await folder.names()) if (isStored(name)) await ifThere(folder.remove(name))
    await folder.sync()
  })
}
