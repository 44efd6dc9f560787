import type { OpenQuestions } from '../../../session/questions/session-questions.ts'

/** Which questions were settled, also by a timeout or an interrupt, and after their Session is closed. */
export interface SettledQuestions {
  /** Notes what happens to the questions of a Session, as long as it is open. May be called again for the same. */
  follow(questions: OpenQuestions): void
  has(requestId: string): boolean
}

/** The oldest are forgotten. */
const KEPT = 10_000

export function settledQuestions(kept = KEPT): SettledQuestions {
  const settled = new Set<string>()
  const followed = new WeakSet<OpenQuestions>()
  return {
    follow: (questions) => {
      if (followed.has(questions)) return
      followed.add(questions)
      questions.listen((change) => {
        if (change.kind !== 'settled') return
        settled.add(change.question.request_id)
        const [oldest] = settled
        if (settled.size > kept && oldest !== undefined) settled.delete(oldest)
      })
    },
    has: (requestId) => settled.has(requestId),
  }
}
