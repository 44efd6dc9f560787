import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { SessionId } from '../model/ids.ts'
import { diskFolder } from './files/disk.ts'
import {
  closing,
  FileFailure,
  ifPossible,
  ifThere,
  readSpan,
  replaceFile,
  type Folder,
} from './files/files.ts'
import type { Ids } from './ids.ts'

/**
 * The workspaces of a user, so that a Session can be found by its id from any folder. Each has a file of its own in
 * `$HAWSER_HOME/workspaces`, so that processes never replace each other's entries. It only helps to find: a Session is
 * opened like any other, and the register may be incomplete.
 */
export interface WorkspaceRegister {
  /** Adds a workspace, by its absolute path. A failure is ignored. */
  add(path: string): Promise<void>
  /** The registered workspace that has a Session with this id. */
  workspaceOf(session: SessionId): Promise<string | undefined>
  /** The paths of all registered workspaces. Some may no longer exist. */
  all(): Promise<readonly string[]>
}

export function workspaceRegister(home: Folder, ids: Ids): WorkspaceRegister {
  return {
    add: async (path) => {
      await ifPossible(addEntry(home, path, ids))
    },
    workspaceOf: async (session) => {
      const folder = await ifThere(home.folder(NAME, 'open'))
      return folder && closing(folder, () => workspaceWith(folder, session))
    },
    all: async () => {
      const folder = await ifThere(home.folder(NAME, 'open'))
      return folder === undefined ? [] : closing(folder, () => allEntries(folder))
    },
  }
}

async function addEntry(home: Folder, path: string, ids: Ids): Promise<void> {
  const folder = await home.folder(NAME, 'create')
  return closing(folder, async () => {
    const name = fileName(path)
    const known = await ifThere(folder.open(name, 'read'))
    if (known !== undefined) return known.close()
    const bytes = Buffer.from(`${JSON.stringify({ v: 1, path })}\n`)
    return replaceFile(folder, name, bytes, ids.temporary())
  })
}

const NAME = 'workspaces'
const MOST_BYTES = 16 * 1024
const MOST_WORKSPACES = 10_000

const Entry = z.object({ v: z.literal(1), path: z.string() })

function fileName(path: string): string {
  return `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`
}

async function workspaceWith(folder: Folder, session: SessionId): Promise<string | undefined> {
  for await (const path of entriesOf(folder)) if (await hasSession(path, session)) return path
  return undefined
}

async function allEntries(folder: Folder): Promise<readonly string[]> {
  const paths: string[] = []
  for await (const path of entriesOf(folder)) paths.push(path)
  return paths
}

async function* entriesOf(folder: Folder): AsyncGenerator<string, void> {
  const names = (await folder.names()).filter((name) => name.endsWith('.json')).toSorted()
  for (const name of names.slice(0, MOST_WORKSPACES)) {
    const path = await entryOf(folder, name)
    if (path !== undefined) yield path
  }
}

async function entryOf(folder: Folder, name: string): Promise<string | undefined> {
  const file = await ifThere(folder.open(name, 'read'))
  if (file === undefined) return undefined
  const bytes = await closing(file, () => readSpan(file, 0, MOST_BYTES))
  try {
    return Entry.safeParse(JSON.parse(bytes.toString('utf8'))).data?.path
  } catch {
    return undefined
  }
}

/** False for a folder that is missing, unreadable or not ours. */
async function hasSession(workspace: string, session: SessionId): Promise<boolean> {
  try {
    const root = await diskFolder(workspace)
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
