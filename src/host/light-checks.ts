import { config } from 'zod'

/**
 * Makes schemas created from here on validate without being compiled first. Compiling pays off after some thousands of
 * values of a kind; a Turn sees a few. Call it before any schema is created.
 */
export function checkWithoutCompiling(): void {
  config({ jitless: true })
}
