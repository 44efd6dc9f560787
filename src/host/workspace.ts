import { ok, type Result } from '../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, closing, ifThere, replaceFile, type Folder } from './files.ts'
import type { Ids } from './ids.ts'

/** What Hawser keeps in a workspace: `<workspace>/.hawser`, ours alone. */
export interface WorkspaceFolders {
  readonly sessions: Folder
  readonly blobs: Folder
  close(): Promise<void>
}

/** Opens, and makes where it is missing, what Hawser keeps in this workspace. A link in its place is refused. */
export async function openWorkspace(path: string, ids: Ids): Promise<Result<WorkspaceFolders>> {
  return asResult(`open ${path}/.hawser`, async () => {
    const root = await diskFolder(path)
    return ok(await closing(root, () => workspaceFolders(root, ids)))
  })
}

/** The same from an open folder. */
export async function workspaceFolders(root: Folder, ids: Ids): Promise<WorkspaceFolders> {
  return closing(await root.folder('.hawser', 'create'), async (own) => {
    await keepOutOfGit(own, ids)
    const sessions = await own.folder('sessions', 'create')
    const blobs = await own.folder('blobs', 'create').catch(async (error: unknown) => {
      await sessions.close()
      throw error
    })
    const close = async () => void (await Promise.all([sessions.close(), blobs.close()]))
    return { sessions, blobs, close }
  })
}

async function keepOutOfGit(own: Folder, ids: Ids): Promise<void> {
  const there = await ifThere(own.open('.gitignore', 'read'))
  if (there !== undefined) return there.close()
  await replaceFile(own, '.gitignore', Buffer.from('*\n'), ids.temporary())
}
