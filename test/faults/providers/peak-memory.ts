import { readFileSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The memory of this process, in bytes. */
export interface Memory {
  readonly before: number
  /** The peak, including garbage. */
  readonly peak: number
  /** After garbage collection. */
  readonly after: number
}

/** Runs a task and measures its memory. */
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
  // Objects freed by the first collection can hold others, which the second collection frees.
  for (let round = 0; round < 3; round++) Reflect.apply(gc, undefined, [])
}

/** Linux records the peak and can reset it; elsewhere the peak since the start is an upper bound. */
function forgetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    // Then the upper bound is used.
  }
}

function peakBytes(): number {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    if (kib !== undefined) return Number(kib) * 1024
  } catch {
    // This file does not exist elsewhere.
  }
  return process.resourceUsage().maxRSS * 1024
}
