import { failed, ok, withCause, type Failed, type Result } from '../model/errors.ts'
import { diskFolder } from './files/disk.ts'
import { asResult, closing, ifPossible, ifThere, replaceFile, type Folder } from './files/files.ts'
import type { Ids } from './ids.ts'

/** The Hawser folder of a workspace: `<workspace>/.hawser`, private to the user. */
export interface WorkspaceFolders {
  /** The folder itself: settings of the workspace. */
  readonly own: Folder
  readonly sessions: Folder
  readonly blobs: Folder
  close(): Promise<void>
}

/**
 * Opens the `.hawser` of a workspace. `create` creates it if missing; `open` returns `not_found`, with the cause
 * `never_used` if the workspace itself exists. A link in its place is refused.
 */
export async function openWorkspace(
  path: string,
  ids: Ids,
  mode: 'open' | 'create' = 'create',
): Promise<Result<WorkspaceFolders>> {
  return asResult(`open ${path}/.hawser`, async () => {
    const root = await ifThere(diskFolder(path))
    if (root === undefined) return failed('not_found', `Folder ${path} does not exist.`, { path })
    return closing(root, async () => {
      if (mode === 'open' && !(await root.names()).includes('.hawser')) return neverUsed()
      return ok(await workspaceFolders(root, ids))
    })
  })
}

function neverUsed(): Failed {
  const message = 'This folder has no Sessions yet.'
  const next = [{ action: 'Start one.', command: 'hawser run "What is in this folder?"' }]
  const refused = failed('not_found', message, { reason: 'never_used' }, next)
  return withCause(refused, { type: 'never_used' })
}

/** The same, starting from an open folder. */
export async function workspaceFolders(root: Folder, ids: Ids): Promise<WorkspaceFolders> {
  const opened: Folder[] = []
  const kept = async (folder: Promise<Folder>) => {
    opened.push(await folder)
    return folder
  }
  const close = async () => void (await Promise.all(opened.map((folder) => folder.close())))
  try {
    const own = await kept(root.folder('.hawser', 'create'))
    await keepOutOfGit(own, ids)
    const sessions = await kept(own.folder('sessions', 'create'))
    const blobs = await kept(own.folder('blobs', 'create'))
    return { own, sessions, blobs, close }
  } catch (error) {
    await ifPossible(close())
    throw error
  }
}

async function keepOutOfGit(own: Folder, ids: Ids): Promise<void> {
  const there = await ifThere(own.open('.gitignore', 'read'))
  if (there !== undefined) return there.close()
  await replaceFile(own, '.gitignore', Buffer.from('*\n'), ids.temporary())
}
