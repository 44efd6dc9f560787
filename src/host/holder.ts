import process from 'node:process'

/** Who holds a lock, in words that help the person who finds it held. Informs only: the lock itself decides. */
export interface Holder {
  readonly pid: number
  readonly program: string
  readonly since: string
}

export function thisProcess(program: string): Holder {
  return { pid: process.pid, program, since: new Date().toISOString() }
}
