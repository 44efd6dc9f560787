import { basename, dirname } from 'node:path'
import { failed, ok, type Result } from '../model/errors.ts'
import { diskFolder } from './files/disk.ts'
import { asResult, closing, ifPossible, ifThere, type Folder } from './files/files.ts'

/** The user's Hawser folder, outside every workspace: `$HAWSER_HOME`, or `~/.hawser`. */
export interface HomeFolders {
  /** The home folder itself: settings and trust records. */
  readonly own: Folder
  readonly heads: Folder
  close(): Promise<void>
}

const ELSEWHERE = { action: 'Set HAWSER_HOME to the absolute path of a folder you own.' }

/** Opens the home folder and creates it if missing. Its parent must exist. */
export async function openHome(path: string): Promise<Result<HomeFolders>> {
  if (path === '') {
    return failed('invalid_args', 'No home folder: HOME is not an absolute path.', {}, [ELSEWHERE])
  }
  if (basename(path) === '')
    return failed('invalid_args', 'HAWSER_HOME cannot be the root folder (/).')
  return asResult(`open ${path}`, async () => {
    const parent = await ifThere(diskFolder(dirname(path)))
    if (parent === undefined) {
      const message = `Cannot create the Hawser home ${path}: its parent folder does not exist.`
      return failed('not_found', message, { path }, [ELSEWHERE])
    }
    const home = await closing(parent, () => parent.folder(basename(path), 'create'))
    const heads = await home.folder('heads', 'create').catch(async (error: unknown) => {
      await ifPossible(home.close())
      throw error
    })
    const close = async () => void (await Promise.all([home.close(), heads.close()]))
    return ok({ own: home, heads, close })
  })
}
