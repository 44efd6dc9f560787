import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { failed, ok, type Result } from '../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, closing, ifPossible, type Folder } from './files.ts'

/** What Hawser keeps for its user, outside every workspace: `$HAWSER_HOME`, or `~/.hawser`. */
export interface HomeFolders {
  /** The home folder itself: settings and what was trusted. */
  readonly own: Folder
  readonly heads: Folder
  close(): Promise<void>
}

export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  const chosen = env['HAWSER_HOME']
  return chosen === undefined || chosen === '' ? join(homedir(), '.hawser') : resolve(chosen)
}

/** Opens, and makes where it is missing, the home folder. Its parent must exist. */
export async function openHome(path: string): Promise<Result<HomeFolders>> {
  if (basename(path) === '') return failed('invalid_args', 'The home folder cannot be the root.')
  return asResult(`open ${path}`, async () => {
    const home = await closing(await diskFolder(dirname(path)), (parent) =>
      parent.folder(basename(path), 'create'),
    )
    const heads = await home.folder('heads', 'create').catch(async (error: unknown) => {
      await ifPossible(home.close())
      throw error
    })
    const close = async () => void (await Promise.all([home.close(), heads.close()]))
    return ok({ own: home, heads, close })
  })
}
