import type { EventDraft } from './event.ts'

/** A notice for people. `code` is for programs, `text` for people. */
export function notice(code: string, text: string): EventDraft<'notice'> {
  return { type: 'notice', data: { code, text } }
}
