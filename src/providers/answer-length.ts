import { failed } from '../model/errors.ts'
import type { ProviderEvent } from './provider.ts'

/** Several times the length of any answer that a model writes. */
const MAX_CHARACTERS = 2 * 1024 * 1024

/**
 * Counts the characters of an answer that are kept until it ends. The number of bytes received is a poor measure: a model's
 * text arrives a few letters at a time, each piece in an event of hundreds of bytes.
 */
export class AnswerLength {
  #length = 0

  /** The number of characters so far. */
  get length(): number {
    return this.#length
  }

  /** Adds `more` characters; false once the answer exceeds the limit. */
  fits(more: number): boolean {
    this.#length += more
    return this.#length <= MAX_CHARACTERS
  }
}

export const ANSWER_TOO_LONG: readonly ProviderEvent[] = [
  {
    type: 'error',
    error: failed(
      'invalid_response',
      `The model's answer exceeds ${MAX_CHARACTERS} characters.`,
      { limit_characters: MAX_CHARACTERS },
      [{ action: 'Ask for a shorter answer, or choose another model.', command: 'hawser models' }],
    ).error,
  },
]
