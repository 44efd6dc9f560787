import type { Changes } from './harness-parts.ts'

/** A Session in which a change of a file asks. */
export const ASKING = {
  provider: 'rehearsal',
  model: 'rehearsal',
  permissionMode: 'ask',
} as const

/** How long a question waits while no client is attached that can answer. */
export const QUESTION_MS = 120_000

export const WAITING: Changes = {
  person: { limits: { waiting_turns: 8, question_ms: QUESTION_MS } },
}
