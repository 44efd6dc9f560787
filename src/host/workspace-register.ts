import type { SessionId } from '../model/ids.ts'
import type { FolderIdentity } from '../model/folder-identity.ts'
import { folderAt } from './files/disk.ts'
import {
  closing,
  FileFailure,
  ifPossible,
  ifThere,
  readSpan,
  replaceFile,
  type Folder,
} from './files/files.ts'
import { identifyFolder, isFolderThere } from './files/folder-identity.ts'
import type { Ids } from './ids.ts'
import {
  ENTRY_BYTES,
  entryBytes,
  entryName,
  entryOf,
  REGISTER,
  type RegisterEntry,
} from './workspaces/entry.ts'
import { originOf, type WorkspaceOrigin } from './workspaces/origin.ts'

/**
 * The workspaces of a user, so that a Session can be found by its id from any folder, and so that a `.hawser` that this home
 * did not create is recognized (`originOf`). Each has a file of its own in `$HAWSER_HOME/workspaces`, so that processes
 * never replace each other's entries. It may be incomplete. An entry means the folder that it was made for: another one at
 * its path is not found until it is added itself.
 */
export interface WorkspaceRegister {
  /**
   * Adds a workspace, unless it is registered, and returns where its `.hawser` comes from. Call it before `.hawser` is
   * created, or when a person opens the folder. If adding it fails, it is not registered.
   */
  add(folder: FolderIdentity): Promise<WorkspaceOrigin>
  /** The registered workspace that has a Session with this id. */
  workspaceOf(session: SessionId): Promise<FolderIdentity | undefined>
  /** All registered workspaces that are there now, except those whose `.hawser` this home does not know. */
  all(): Promise<readonly FolderIdentity[]>
}

export function workspaceRegister(home: Folder, ids: Ids): WorkspaceRegister {
  return {
    add: async (folder) => {
      const { origin, isRegistered } = originOf(folder.path, home.label)
      if (!isRegistered) await ifPossible(addEntry(home, folder, origin, ids))
      return origin
    },
    workspaceOf: async (session) => {
      const folder = await ifThere(home.folder(REGISTER, 'open'))
      return folder && closing(folder, () => workspaceWith(folder, home.label, session))
    },
    all: async () => {
      const folder = await ifThere(home.folder(REGISTER, 'open'))
      return folder === undefined ? [] : closing(folder, () => allEntries(folder, home.label))
    },
  }
}

async function addEntry(
  home: Folder,
  added: FolderIdentity,
  origin: WorkspaceOrigin,
  ids: Ids,
): Promise<void> {
  const adopted = origin === 'unknown' || origin === 'adopted'
  const folder = await home.folder(REGISTER, 'create')
  return closing(folder, async () => {
    const { path } = added
    const bytes = entryBytes({ v: 1, path, folder: added, ...(adopted ? { adopted } : {}) })
    return replaceFile(folder, entryName(path), bytes, ids.temporary())
  })
}

const MOST_WORKSPACES = 10_000

async function workspaceWith(
  folder: Folder,
  home: string,
  session: SessionId,
): Promise<FolderIdentity | undefined> {
  for await (const one of registerEntries(folder, home))
    if (await hasSession(one, session)) return one
  return undefined
}

async function allEntries(folder: Folder, home: string): Promise<readonly FolderIdentity[]> {
  const all: FolderIdentity[] = []
  for await (const one of registerEntries(folder, home)) all.push(one)
  return all
}

async function* registerEntries(
  folder: Folder,
  home: string,
): AsyncGenerator<FolderIdentity, void> {
  const names = (await folder.names()).filter((name) => name.endsWith('.json')).toSorted()
  for (const name of names.slice(0, MOST_WORKSPACES)) {
    const entry = await entryIn(folder, name)
    const there = entry && (await registeredFolder(entry))
    if (there !== undefined && originOf(there.path, home).origin !== 'unknown') yield there
  }
}

/** An entry of an older version means the folder at its path, if no link is on it. */
async function registeredFolder({
  path,
  folder,
}: RegisterEntry): Promise<FolderIdentity | undefined> {
  if (folder !== undefined) return isFolderThere(folder) ? folder : undefined
  const found = await identifyFolder(path)
  return found.ok && found.value.path === path ? found.value : undefined
}

async function entryIn(folder: Folder, name: string): Promise<RegisterEntry | undefined> {
  const file = await ifThere(folder.open(name, 'read'))
  if (file === undefined) return undefined
  return entryOf(await closing(file, () => readSpan(file, 0, ENTRY_BYTES)))
}

/** False for a folder that is missing, unreadable or not ours. */
async function hasSession(workspace: FolderIdentity, session: SessionId): Promise<boolean> {
  try {
    const root = await folderAt(workspace)
    const own = await closing(root, () => root.folder('.hawser', 'open'))
    const sessions = await closing(own, () => own.folder('sessions', 'open'))
    return await closing(sessions, async () => {
      const file = await ifThere(sessions.open(`${session}.ndjson`, 'read'))
      await file?.close()
      return file !== undefined
    })
  } catch (error) {
    if (error instanceof FileFailure) return false
    throw error
  }
}
