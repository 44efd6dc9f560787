import { join } from 'node:path'
import { InstanceId } from '../../model/ids.ts'
import { folderAt, pathOf, type FolderPlace } from './disk.ts'
import { closing, ifThere, type Folder } from './files.ts'

/**
 * The records of an Instance in a workspace: its Sessions and blobs. Every workspace has them at the same place, so that
 * no Instance sees those of another one or of the person.
 */
export interface RecordsPlace {
  /** The real path, or the folder itself. */
  readonly workspace: FolderPlace
  readonly instance: string
}

/** The folder in the `.hawser` of a workspace that has one folder for each Instance. */
export const RECORDS = 'instances'

/** The folder that a guest sees as the `.hawser` of its workspace. */
export function recordsPath({ workspace, instance }: RecordsPlace): string {
  return join(recordsIn(pathOf(workspace)), instance)
}

/** The folder of the records of all Instances in a workspace. */
export function recordsIn(workspace: string): string {
  return join(workspace, '.hawser', RECORDS)
}

/**
 * Opens the records of an Instance. `undefined` if there are none. No link is followed. Throws a `FileFailure` if they are
 * not a folder of this user.
 */
export async function recordsFolder({
  workspace,
  instance,
}: RecordsPlace): Promise<Folder | undefined> {
  let folder = await ifThere(folderAt(workspace))
  for (const name of ['.hawser', RECORDS, instance]) {
    if (folder === undefined) return undefined
    folder = await closing(folder, (parent) => ifThere(parent.folder(name, 'open')))
  }
  return folder
}

/** The Instances that have records in a workspace, whose `.hawser` is `own`. Some may have been deleted. */
export async function instancesWithRecords(own: Folder): Promise<readonly InstanceId[]> {
  const all = await ifThere(own.folder(RECORDS, 'open'))
  if (all === undefined) return []
  const names = await closing(all, () => all.names())
  return names.flatMap((name) => InstanceId.safeParse(name).data ?? []).toSorted()
}
