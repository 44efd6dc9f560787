import type { EventDraft } from './event.ts'

/**
 * An answer that a lost connection cut off is asked for again, although nothing was compacted in between. The only notice
 * that a model learns of: the next request asks for the whole answer.
 */
export const ANSWER_REPEATED = 'answer_repeated'

/** A notice for people. `code` is for programs, `text` for people. */
export function notice(code: string, text: string): EventDraft<'notice'> {
  return { type: 'notice', data: { code, text } }
}
