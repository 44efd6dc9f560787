import { constants } from 'node:fs'
import { access } from 'node:fs/promises'

/**
 * Where an operating system keeps its own programs. What Hawser itself starts is looked for here and never in `PATH`: a
 * repository may have put a folder of its own in there.
 */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

/** The absolute path of a program of the system, if it has one of that name. */
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
