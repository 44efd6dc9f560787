import { closing, ifThere, type Folder } from './files/files.ts'
import { recordsFolder, type RecordsPlace } from './files/records.ts'

/** Runs `work` with a folder. `undefined` if the folder does not exist. Throws a `FileFailure` if it is not a folder of this user. */
type InFolder = <T>(
  place: RecordsPlace,
  work: (folder: Folder) => Promise<T>,
) => Promise<T | undefined>

/** The Logs of a guest, which may have put anything there: see `inBlobsOf`. */
export const inSessionsOf: InFolder = (place, work) => inFolder(place, 'sessions', work)

/** The blobs of a guest, which may have put anything there: no link is followed, and nothing is created. */
export const inBlobsOf: InFolder = (place, work) => inFolder(place, 'blobs', work)

async function inFolder<T>(
  place: RecordsPlace,
  name: string,
  work: (folder: Folder) => Promise<T>,
): Promise<T | undefined> {
  const records = await recordsFolder(place)
  if (records === undefined) return undefined
  const folder = await closing(records, () => ifThere(records.folder(name, 'open')))
  return folder && closing(folder, work)
}
