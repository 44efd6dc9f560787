import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { closing, FileFailure, ifThere, type Folder } from '../files/files.ts'
import type { Ids } from '../ids.ts'

/** The folder of `$HAWSER_HOME` with what people typed, one folder for each workspace. */
const FOLDER = 'input'
const HASH_LENGTH = 32

/** Where the typed texts of one workspace are stored: in the home, so that no repository contains them. */
export interface InputPlace {
  readonly home: Folder
  readonly ids: Pick<Ids, 'temporary'>
  readonly clock: Clock
  /** The absolute path of the workspace. */
  readonly workspace: string
}

/** Runs `work` in the folder of a workspace, which is created first. Returns whether that was possible. */
export async function inFolder(
  place: InputPlace,
  work: (folder: Folder) => Promise<void>,
): Promise<boolean> {
  try {
    const all = await place.home.folder(FOLDER, 'create')
    const own = await closing(all, () => all.folder(nameOf(place), 'create'))
    await closing(own, work)
    return true
  } catch (error) {
    if (error instanceof FileFailure) return false
    throw error
  }
}

/** The same without creating anything; `undefined` if the folder is missing or unreadable. */
export async function ifFolder<T>(
  place: InputPlace,
  work: (folder: Folder) => Promise<T>,
): Promise<T | undefined> {
  try {
    const all = await ifThere(place.home.folder(FOLDER, 'open'))
    const own = all && (await closing(all, () => ifThere(all.folder(nameOf(place), 'open'))))
    return own && (await closing(own, work))
  } catch (error) {
    if (error instanceof FileFailure) return undefined
    throw error
  }
}

function nameOf({ workspace }: InputPlace): string {
  return createHash('sha256').update(workspace).digest('hex').slice(0, HASH_LENGTH)
}
