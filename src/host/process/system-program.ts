import { constants } from 'node:fs'
import { access } from 'node:fs/promises'

/**
 * Where operating systems keep their own programs. Hawser looks here for programs it starts itself, never in `PATH`, to
 * which a repository may have added a folder.
 */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

/** The absolute path of a system program, if installed. */
export async function systemProgram(name: string): Promise<string | undefined> {
  for (const folder of SYSTEM_FOLDERS) {
    const path = `${folder}/${name}`
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return undefined
}
