import { createContext, Script } from 'node:vm'

/**
 * Runs `work`, and stops it when it takes longer than `ms`, wherever it is: also inside a regular expression, which nothing
 * else can interrupt. Answers whether it came to its end. What `work` throws goes on; what it did before it was stopped
 * stays done.
 */
export function withinTime(ms: number, work: () => void): boolean {
  try {
    new Script('work()').runInContext(createContext({ work }), { timeout: Math.max(1, ms) })
    return true
  } catch (error) {
    if (hasCode(error) && error.code === TIMED_OUT) return false
    throw error
  }
}

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** Not `instanceof`: this error is made where the script runs, which has an `Error` of its own. */
function hasCode(error: unknown): error is { readonly code: unknown } {
  return typeof error === 'object' && error !== null && 'code' in error
}
