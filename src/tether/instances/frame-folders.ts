import { join } from 'node:path'
import { asResult, ifPossible, ifThere, type Folder } from '../../host/files/files.ts'
import { folderIdentity } from '../../host/files/real-folder.ts'
import { instancesWithRecords } from '../../host/files/records.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'
import { readRegister } from './register-file.ts'
import { mappedPath, ownWorkspace } from './workspace-place.ts'

/** Folders whose files may mention blobs of a workspace. Close them. */
export interface FrameFolders {
  readonly folders: readonly Folder[]
  close(): Promise<void>
}

const INSTANCES = 'instances'
const FRAMES = 'frames'

/**
 * The frame logs of all Instances that work in a folder, whatever path they name it by, and whose records an earlier version
 * left among those of the person. Fails if that cannot be known: then no blob can be proved unused. An Instance whose
 * workspace cannot be looked at counts as working in it.
 */
export async function frameFoldersOf(
  home: Folder,
  homePath: string,
  { workspace, own: hawser }: { readonly workspace: string; readonly own: Folder },
): Promise<Result<FrameFolders>> {
  const opened: Folder[] = []
  const close = async () => {
    for (const folder of opened) await ifPossible(folder.close())
  }
  const found = await asResult('find the frames that may refer to blobs', async () => {
    const instances = await ifThere(home.folder(INSTANCES, 'open'))
    if (instances === undefined) return ok([])
    opened.push(instances)
    const [records, here] = [await readRegister(instances), await folderIdentity(workspace)]
    if (!records.ok) return records
    if (!here.ok) return here
    const apart: ReadonlySet<string> = new Set(await instancesWithRecords(hawser))
    const folders: Folder[] = []
    for (const record of records.value) {
      if (apart.has(record.id)) continue
      const path = join(homePath, INSTANCES, record.id)
      const there = await folderIdentity(mappedPath(record, path) ?? ownWorkspace(path))
      if (there.ok && ![there.value, recordedId(record)].includes(here.value)) continue
      const own = await ifThere(instances.folder(record.id, 'open'))
      if (own === undefined) continue
      opened.push(own)
      const frames = await ifThere(own.folder(FRAMES, 'open'))
      if (frames === undefined) continue
      opened.push(frames)
      folders.push(frames)
    }
    return ok(folders)
  })
  if (found.ok) return ok({ folders: found.value, close })
  await close()
  return found
}

/** The folder that it was mapped to, whatever is at its path now. */
function recordedId({ folder }: InstanceRecord): string | undefined {
  return folder === undefined ? undefined : `${folder.dev}:${folder.ino}`
}
