import { closing, FileFailure, type Folder } from '../../../host/files/files.ts'
import { instancesWithRecords, RECORDS } from '../../../host/files/records.ts'
import { logName } from '../../../log/files/names.ts'
import type { InstanceId, SessionId } from '../../../model/ids.ts'

/** The Instance whose records in a workspace contain this Session; `own` is the `.hawser` of the workspace. */
export async function instanceWithSession(
  own: Folder,
  session: SessionId,
): Promise<InstanceId | undefined> {
  const instances = (await unlessUnreadable(instancesWithRecords(own))) ?? []
  for (const instance of instances)
    if (await unlessUnreadable(hasLog(own, instance, session))) return instance
  return undefined
}

async function hasLog(own: Folder, instance: InstanceId, session: SessionId): Promise<true> {
  const all = await own.folder(RECORDS, 'open')
  const records = await closing(all, () => all.folder(instance, 'open'))
  const sessions = await closing(records, () => records.folder('sessions', 'open'))
  const file = await closing(sessions, () => sessions.open(logName(session), 'read'))
  await file.close()
  return true
}

/** `undefined` for what is missing, unreadable or not ours. */
async function unlessUnreadable<T>(opening: Promise<T>): Promise<T | undefined> {
  return opening.catch((error: unknown) => {
    if (error instanceof FileFailure) return undefined
    throw error
  })
}
