import { basename, dirname, join, resolve } from 'node:path'
import { failed, ok, type Result } from '../model/errors.ts'
import { diskFolder } from './files/disk.ts'
import { asResult, closing, ifPossible, ifThere, type Folder } from './files/files.ts'
import { userHome } from './machine.ts'

/** What Hawser keeps for its user, outside every workspace: `$HAWSER_HOME`, or `~/.hawser`. */
export interface HomeFolders {
  /** The home folder itself: settings and what was trusted. */
  readonly own: Folder
  readonly heads: Folder
  close(): Promise<void>
}

/** Empty where neither a person nor the system says where that is; `openHome` refuses it in words. */
export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  const chosen = env['HAWSER_HOME']
  if (chosen !== undefined && chosen !== '') return resolve(chosen)
  const user = userHome()
  return user === undefined ? '' : join(user, '.hawser')
}

const ELSEWHERE = { action: 'Set HAWSER_HOME to a folder of your own, by its absolute path.' }

/** Opens, and makes where it is missing, the home folder. Its parent must exist. */
export async function openHome(path: string): Promise<Result<HomeFolders>> {
  if (path === '') {
    return failed('invalid_args', 'You have no home folder: HOME is no absolute path.', {}, [
      ELSEWHERE,
    ])
  }
  if (basename(path) === '') return failed('invalid_args', 'The home folder cannot be the root.')
  return asResult(`open ${path}`, async () => {
    const parent = await ifThere(diskFolder(dirname(path)))
    if (parent === undefined) {
      const message = `Hawser keeps its own in ${path}, and the folder that should hold it is not there.`
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
