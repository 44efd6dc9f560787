import type { EventDraft } from './event.ts'

/** What people are told besides what a model says. `code` is for programs, `text` for people. */
export function notice(code: string, text: string): EventDraft<'notice'> {
  return { type: 'notice', data: { code, text } }
}
