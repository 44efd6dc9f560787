import { constants } from 'node:fs'
import { access } from 'node:fs/promises'

/**
 * Where operating systems keep their own programs. Hawser looks here for programs it starts itself, never in `PATH`, to
 * which a repository may have added a folder.
 */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

/** The programs of Windows, where WSL mounts its drive. */
const WINDOWS_FOLDERS = [
  '/mnt/c/Windows/System32',
  '/mnt/c/Windows/System32/WindowsPowerShell/v1.0',
]

/** The absolute path of a system program, if installed; one whose name ends with `.exe` is of Windows. */
export async function systemProgram(name: string): Promise<string | undefined> {
  for (const folder of name.endsWith('.exe') ? WINDOWS_FOLDERS : SYSTEM_FOLDERS) {
    const path = `${folder}/${name}`
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return undefined
}
