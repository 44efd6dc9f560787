import process from 'node:process'

/** The holder of a lock, for the message to the next process. Informative only: the lock itself decides. */
export interface Holder {
  readonly pid: number
  readonly program: string
  readonly since: string
}

/** Whether a process with this pid runs here. A process in another container may run without being visible. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process exists but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

export function thisProcess(program: string): Holder {
  return { pid: process.pid, program, since: new Date().toISOString() }
}
