import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { failed, ok, type Result } from '../model/errors.ts'
import { diskFolder } from './disk.ts'
import { asResult, closing, type Folder } from './files.ts'

/** What Hawser keeps for its user, outside every workspace: `$HAWSER_HOME`, or `~/.hawser`. */
export interface HomeFolders {
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
    const heads = await closing(home, () => home.folder('heads', 'create'))
    return ok({ heads, close: () => heads.close() })
  })
}
