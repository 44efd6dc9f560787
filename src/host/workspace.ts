import { failed, ok, withCause, type Failed, type Result } from '../model/errors.ts'
import { diskFolder, folderAt, pathOf, type FolderPlace } from './files/disk.ts'
import { asResult, closing, ifPossible, ifThere, replaceFile, type Folder } from './files/files.ts'
import type { Ids } from './ids.ts'
import { recordsFolder, type RecordsPlace } from './files/records.ts'

/** The Hawser folder of a workspace: `<workspace>/.hawser`, private to the user; or the records of an Instance. */
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
  place: FolderPlace,
  ids: Ids,
  mode: 'open' | 'create' = 'create',
): Promise<Result<WorkspaceFolders>> {
  const path = typeof place === 'string' ? place : place.path
  return asResult(`open ${path}/.hawser`, async () => {
    const root = await ifThere(folderAt(place))
    if (root === undefined) return failed('not_found', `Folder ${path} does not exist.`, { path })
    return closing(root, async () => {
      if (mode === 'open' && !(await root.names()).includes('.hawser')) return neverUsed()
      return ok(await workspaceFolders(root, ids))
    })
  })
}

/**
 * Opens the records of an Instance in place of the `.hawser` of the workspace. The guest may have put anything there: a link
 * is refused. `not_found` with the cause `never_used` if there are none.
 */
export async function openRecords(place: RecordsPlace): Promise<Result<WorkspaceFolders>> {
  return asResult('open the records of the Instance', async () => {
    const records = await recordsFolder(place)
    return records === undefined ? noRecords(place) : ok(await foldersIn(records))
  })
}

/** Opens the folder that a guest was given in place of the `.hawser` of its workspace. */
export async function openOwnRecords(path: string, ids: Ids): Promise<Result<WorkspaceFolders>> {
  return asResult(`open ${path}`, async () => {
    const own = await diskFolder(path)
    return ok(await foldersIn(own, (folder) => keepOutOfGit(folder, ids)))
  })
}

function neverUsed(): Failed {
  const message = 'This folder has no Sessions yet.'
  const next = [{ action: 'Start one.', command: 'hawser run "What is in this folder?"' }]
  const refused = failed('not_found', message, { reason: 'never_used' }, next)
  return withCause(refused, { type: 'never_used' })
}

function noRecords({ workspace, instance }: RecordsPlace): Failed {
  const message = `The Instance ${instance} has no Sessions in ${pathOf(workspace)}.`
  const refused = failed('not_found', message, { reason: 'never_used', instance }, [
    { action: 'Name the folder in which it worked with --workspace.' },
  ])
  return withCause(refused, { type: 'never_used' })
}

/** The same, starting from an open folder. */
export async function workspaceFolders(root: Folder, ids: Ids): Promise<WorkspaceFolders> {
  const own = await root.folder('.hawser', 'create')
  return foldersIn(own, (folder) => keepOutOfGit(folder, ids))
}

/** Opens what is in `own`, after `prepare`. `own` is closed with it. */
async function foldersIn(
  own: Folder,
  prepare: (own: Folder) => Promise<void> = async () => {},
): Promise<WorkspaceFolders> {
  try {
    await prepare(own)
    const { sessions, blobs, close } = await recordFolders(own)
    const closeAll = async () => void (await Promise.all([own.close(), close()]))
    return { own, sessions, blobs, close: closeAll }
  } catch (error) {
    await ifPossible(own.close())
    throw error
  }
}

/** Opens what is in a `.hawser` or in the records of an Instance, and creates what is missing. */
export async function recordFolders(own: Folder): Promise<Omit<WorkspaceFolders, 'own'>> {
  const sessions = await own.folder('sessions', 'create')
  const blobs = await own.folder('blobs', 'create').catch(async (error: unknown) => {
    await ifPossible(sessions.close())
    throw error
  })
  const close = async () => void (await Promise.all([sessions.close(), blobs.close()]))
  return { sessions, blobs, close }
}

/** Makes git ignore everything in a `.hawser`. */
export async function keepOutOfGit(own: Folder, ids: Ids): Promise<void> {
  const there = await ifThere(own.open('.gitignore', 'read'))
  if (there !== undefined) return there.close()
  await replaceFile(own, '.gitignore', Buffer.from('*\n'), ids.temporary())
}
