import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** Where files cost nothing to sync; on a machine without such a place, where all temporary files lie. */
export async function memoryFolder(): Promise<string> {
  try {
    await access('/dev/shm', constants.W_OK | constants.X_OK)
    return '/dev/shm'
  } catch {
    return tmpdir()
  }
}
