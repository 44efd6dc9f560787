import { asResult, ifPossible, ifThere, type Folder } from '../../host/files/files.ts'
import { instancesWithRecords, RECORDS } from '../../host/files/records.ts'
import { recordFolders } from '../../host/workspace.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { InstanceId } from '../../model/ids.ts'
import type { OpenRecords, OpenStore } from '../../session/live/session-parts.ts'

const INSTANCES = 'instances'
const FRAMES = 'frames'

/**
 * The blobs of every Instance that has records in the workspace whose `.hawser` is `own`, with everything that may mention
 * them: its Logs there and its frame log, wherever it works now. What a guest put in the way of its own records concerns
 * no other ones.
 */
export async function instanceStores(home: Folder, own: Folder): Promise<Result<OpenRecords>> {
  const opened: Folder[] = []
  const kept = async (opening: Promise<Folder>): Promise<Folder> => {
    const folder = await opening
    opened.push(folder)
    return folder
  }
  const close = async () => {
    for (const folder of opened) await ifPossible(folder.close())
  }
  const found = await asResult('find the records of Instances', async () => {
    const stores: { instance: InstanceId; store: Result<OpenStore> }[] = []
    for (const instance of await instancesWithRecords(own)) {
      const store = await asResult(`open the records of the Instance ${instance}`, async () => {
        const records = await kept(
          (await kept(own.folder(RECORDS, 'open'))).folder(instance, 'open'),
        )
        const { sessions, blobs } = await recordFolders(records)
        opened.push(sessions, blobs)
        return ok({ sessions, blobs, mentions: await framesOf(home, instance, kept) })
      })
      stores.push({ instance, store })
    }
    return ok(stores)
  })
  if (found.ok) return ok({ stores: found.value, close })
  await close()
  return found
}

/** None if the Instance was deleted. */
async function framesOf(
  home: Folder,
  instance: InstanceId,
  kept: (opening: Promise<Folder>) => Promise<Folder>,
): Promise<readonly Folder[]> {
  const instances = await ifThere(kept(home.folder(INSTANCES, 'open')))
  const folder = instances && (await ifThere(kept(instances.folder(instance, 'open'))))
  const frames = folder && (await ifThere(kept(folder.folder(FRAMES, 'open'))))
  return frames === undefined ? [] : [frames]
}
