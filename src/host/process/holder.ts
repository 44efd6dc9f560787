import process from 'node:process'

/** Who holds a lock, in words that help the person who finds it held. Informs only: the lock itself decides. */
export interface Holder {
  readonly pid: number
  readonly program: string
  readonly since: string
}

/** Whether a process of that number runs here. One in another container may run and not be seen. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Not ours to signal, but there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export function thisProcess(program: string): Holder {
  return { pid: process.pid, program, since: new Date().toISOString() }
}
