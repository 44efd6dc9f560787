import { diskFolder } from './files/disk.ts'
import { closing, ifThere, type Folder } from './files/files.ts'

/** Runs `work` with a folder. `undefined` if the folder does not exist. Throws a `FileFailure` if it is not a folder of ours. */
type InFolder = <T>(
  workspace: string,
  work: (folder: Folder) => Promise<T>,
) => Promise<T | undefined>

/** The Logs of a workspace whose `.hawser` belongs to a guest, which may have put anything there: see `inBlobsOf`. */
export const inSessionsOf: InFolder = (workspace, work) => inFolder(workspace, 'sessions', work)

/**
 * The blobs of a workspace whose `.hawser` belongs to a guest, which may have put anything there: no link is followed, and
 * nothing is created.
 */
export const inBlobsOf: InFolder = (workspace, work) => inFolder(workspace, 'blobs', work)

async function inFolder<T>(
  workspace: string,
  name: string,
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
