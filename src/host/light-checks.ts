import { config } from 'zod'

/**
 * Schemas that are made from here on check values without being compiled first. Compiling pays after some thousands of
 * values of a kind; a Turn sees a few. To be called before any schema is made.
 */
export function checkWithoutCompiling(): void {
  config({ jitless: true })
}
