import { workspaceBlobStore } from '../../../blobs/workspace-store.ts'
import type { Clock } from '../../../host/clock.ts'
import { asResult, ifPossible, type Folder } from '../../../host/files/files.ts'
import { instancesWithRecords, RECORDS } from '../../../host/files/records.ts'
import type { Ids } from '../../../host/ids.ts'
import { recordFolders } from '../../../host/workspace.ts'
import { sessionsBeingWritten } from '../../../log/files/file-leases.ts'
import { fileLogs } from '../../../log/files/file-logs.ts'
import { ok, type Result } from '../../../model/errors.ts'
import type { InstanceId } from '../../../model/ids.ts'
import type { OpenRecords, OpenStore } from '../../../session/live/session-parts.ts'
import type { FrameStore } from '../../frames/frame-store.ts'

export interface RecordStoresParts {
  /** The `.hawser` of the workspace. */
  readonly own: Folder
  readonly frames: Pick<FrameStore, 'raw'>
  readonly clock: Clock
  readonly ids: Ids
}

/**
 * The blobs of every Instance that has records in the workspace of `own`, with everything that may mention
 * them: its Logs there and its frame log, wherever it works now. What a guest put in the way of its own records concerns
 * no other ones.
 */
export async function recordStores(parts: RecordStoresParts): Promise<Result<OpenRecords>> {
  const { own, frames, clock, ids } = parts
  const opened: { close(): Promise<void> }[] = []
  const kept = async (opening: Promise<Folder>): Promise<Folder> => {
    const folder = await opening
    opened.push(folder)
    return folder
  }
  const close = async () => {
    for (const one of opened) await ifPossible(one.close())
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
        // None if the Instance was deleted.
        const named = await frames.raw(instance)
        if (!named.ok) return named
        if (named.value !== undefined) opened.push(named.value)
        const logs = fileLogs({ sessions, ids })
        return ok({
          blobs: workspaceBlobStore({ folder: blobs, ids, clock }),
          mentions: [logs, ...(named.value === undefined ? [] : [named.value])],
          writing: () => sessionsBeingWritten(sessions),
          tidy: [logs],
        })
      })
      stores.push({ instance, store })
    }
    return ok(stores)
  })
  if (found.ok) return ok({ stores: found.value, close })
  await close()
  return found
}
