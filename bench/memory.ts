import { readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'

/** The reason if peak memory cannot be read. */
export const noMemoryFigures =
  process.platform === 'linux' ? undefined : 'peak memory is read from /proc, which only Linux has'

export interface Memory {
  readonly before_bytes: number
  readonly peak_bytes: number
}

/** Peak physical memory of this process during `work`, and its memory just before. */
export async function peakDuring(work: () => Promise<unknown>): Promise<Memory> {
  if (noMemoryFigures !== undefined) {
    await work()
    return { before_bytes: 0, peak_bytes: 0 }
  }
  // Resets the peak: that of the start may be higher than what follows.
  await writeFile('/proc/self/clear_refs', '5')
  const before_bytes = await statusBytes('VmRSS')
  await work()
  return { before_bytes, peak_bytes: await statusBytes('VmHWM') }
}

async function statusBytes(name: string): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8')
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kib === undefined) throw new Error(`/proc/self/status has no ${name}`)
  return Number(kib) * 1024
}
