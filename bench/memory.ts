import { readFile, writeFile } from 'node:fs/promises'
import process from 'node:process'

/** Where peak memory cannot be read, why. */
export const noMemoryFigures =
  process.platform === 'linux' ? undefined : 'peak memory is read from /proc, which only Linux has'

export interface Memory {
  readonly before_bytes: number
  readonly peak_bytes: number
}

/** Physical memory of this process at its highest during `work`, and just before. */
export async function peakDuring(work: () => Promise<unknown>): Promise<Memory> {
  if (noMemoryFigures !== undefined) {
    await work()
    return { before_bytes: 0, peak_bytes: 0 }
  }
  // Forgets the peak of starting up, which may be higher than what comes.
  await writeFile('/proc/self/clear_refs', '5')
  const before_bytes = await statusBytes('VmRSS')
  await work()
  return { before_bytes, peak_bytes: await statusBytes('VmHWM') }
}

async function statusBytes(name: string): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8')
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kib === undefined) throw new Error(`/proc/self/status does not tell ${name}`)
  return Number(kib) * 1024
}
