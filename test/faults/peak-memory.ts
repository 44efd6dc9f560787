import { readFileSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What this process takes of the machine's memory, in bytes. */
export interface Memory {
  readonly before: number
  /** The most at any moment, garbage included. */
  readonly peak: number
  /** When everything is gone that nobody uses. */
  readonly after: number
}

/** Does something, and tells what it took. */
export async function measured(work: () => Promise<void>): Promise<Memory> {
  collect()
  forgetPeak()
  const before = process.memoryUsage.rss()
  await work()
  const peak = peakBytes()
  collect()
  return { before, peak, after: process.memoryUsage.rss() }
}

function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: unknown = runInNewContext('gc')
  if (typeof gc !== 'function') throw new Error('garbage cannot be collected')
  // What the first round finds unused holds other things, which the second finds.
  for (let round = 0; round < 3; round++) Reflect.apply(gc, undefined, [])
}

/** Linux counts it, and forgets it when told; elsewhere the most since the start is an upper bound. */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // Then the bound is what there is.
  }
}

function peakBytes(): number {
  try {
    const told = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    if (told !== undefined) return Number(told) * 1024
  } catch {
    // There is no such file elsewhere.
  }
  return process.resourceUsage().maxRSS * 1024
}
