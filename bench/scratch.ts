import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder of the Logs in a place of test/support/log/disk-place.ts. */
export const SESSIONS = 'workspace/.hawser/sessions'

const TMPFS = 0x01021994

/** A folder on a real disk for the duration of `work`: where syncs are free, there is nothing to measure. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const { type } = await statfs(tmpdir())
  const folder = await mkdtemp(join(type === TMPFS ? '/var/tmp' : tmpdir(), 'hawser-bench-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
