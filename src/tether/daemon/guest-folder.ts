import { diskFolder } from '../../host/files/disk.ts'
import { closing, ifThere, type Folder } from '../../host/files/files.ts'

/**
 * Runs `work` with a folder of a guest's `.hawser`, which the guest may have replaced by anything: no link is followed, and
 * nothing is created. `undefined` if it does not exist. Throws a `FileFailure` if it is not a folder of ours.
 */
export async function inGuestFolder<T>(
  workspace: string,
  name: 'sessions' | 'blobs',
  work: (folder: Folder) => Promise<T>,
): Promise<T | undefined> {
  return closing(await diskFolder(workspace), async (root) => {
    const own = await ifThere(root.folder('.hawser', 'open'))
    if (own === undefined) return undefined
    return closing(own, async () => {
      const folder = await ifThere(own.folder(name, 'open'))
      return folder === undefined ? undefined : closing(folder, work)
    })
  })
}
