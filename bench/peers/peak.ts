import { readFileSync } from 'node:fs'

/**
 * Reads the peak memory of a process and of those that it started again and again, because the system does not say it after
 * their end. Returns a function that stops this, and returns the peak of the largest process in MB.
 */
export function watchPeak(pid: number | undefined, everyMs: number): () => number {
  let most = 0
  const look = () => {
    if (pid !== undefined) most = Math.max(most, ...peaksOf(pid))
  }
  const timer = setInterval(look, everyMs)
  return () => {
    clearInterval(timer)
    return most
  }
}

function peaksOf(pid: number): readonly number[] {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(textIn(`/proc/${pid}/status`))?.[1]
  const children = textIn(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return [(Number(peak ?? 0) * 1024) / 1e6, ...children.flatMap((child) => peaksOf(Number(child)))]
}

/** Empty for a process that has ended. */
function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
