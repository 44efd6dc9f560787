import { createContext, Script } from 'node:vm'

/**
 * Runs `work` and stops it after `ms`, even inside a regular expression, which nothing else can interrupt. Returns whether
 * it finished. Errors of `work` propagate; effects before the stop remain.
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

/** Not `instanceof`: the error is created in the script's context, which has its own `Error`. */
function hasCode(error: unknown): error is { readonly code: unknown } {
  return typeof error === 'object' && error !== null && 'code' in error
}
