import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** A folder in memory, where syncs are free; the system's temporary folder if there is none. */
export async function memoryFolder(): Promise<string> {
  try {
    await access('/dev/shm', constants.W_OK | constants.X_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}
