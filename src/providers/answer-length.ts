import { failed } from '../model/errors.ts'
import type { ProviderEvent } from './provider.ts'

/** In characters: several times what any model writes in one answer. */
const LONGEST_SAID = 2 * 1024 * 1024

/**
 * Counts what has to be held of an answer until it ends. The length of its bytes says little about that: a model's words
 * come a few letters at a time, each in an event of hundreds of bytes.
 */
export class SaidLength {
  #length = 0

  /** So far. */
  get length(): number {
    return this.#length
  }

  /** False once there is more than any answer says. */
  fits(more: number): boolean {
    this.#length += more
    return this.#length <= LONGEST_SAID
  }
}

export const SAID_TOO_MUCH: readonly ProviderEvent[] = [
  {
    type: 'error',
    error: failed('invalid_response', 'The model said more than an answer can hold.').error,
  },
]
