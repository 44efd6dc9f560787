import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where a place of test/support/disk-place.ts keeps its Logs. */
export const SESSIONS = 'workspace/.hawser/sessions'

const TMPFS = 0x01021994

/** A folder for the time of `work`, on a disk: where syncs cost nothing there is nothing to measure. */
export async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const { type } = await statfs(tmpdir())
  const folder = await mkdtemp(join(type === TMPFS ? '/var/tmp' : tmpdir(), 'hawser-bench-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
