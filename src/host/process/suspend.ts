import process from 'node:process'

/** A job that no shell controls is not stopped: the system ignores the signal then. */
const NOT_STOPPED_MS = 200
const OWN_GROUP = 0

/**
 * Stops this process and the job that it belongs to, as the system does on Ctrl-Z, and resolves when it continues; soon if
 * nothing can stop it. The terminal must be as the shell expects it, and no listener may read keys meanwhile.
 */
export function suspendJob(): Promise<void> {
  return new Promise((resolve) => {
    const resume = () => {
      process.off('SIGCONT', resume)
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(resume, NOT_STOPPED_MS)
    process.on('SIGCONT', resume)
    process.kill(OWN_GROUP, 'SIGTSTP')
  })
}
