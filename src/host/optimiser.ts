import { setFlagsFromString } from 'node:v8'

const PAYS_AFTER_MS = 2000

/**
 * Lets the engine make optimised code only once the program has run for a while. Most commands are over before that would
 * pay, and making it takes four megabytes; whatever runs longer gets all of it.
 */
export function optimiseLater(): void {
  setFlagsFromString('--no-opt')
  setTimeout(() => setFlagsFromString('--opt'), PAYS_AFTER_MS).unref()
}
