import type { OpenQuestions } from '../../../session/questions/session-questions.ts'
import { recentKeys } from './recent-keys.ts'

/** Which questions were settled, also by a timeout or an interrupt, and after their Session is closed. */
export interface SettledQuestions {
  /** Notes what happens to the questions of a Session, as long as it is open. May be called again for the same. */
  follow(questions: OpenQuestions): void
  has(requestId: string): boolean
}

export function settledQuestions(kept?: number): SettledQuestions {
  const settled = recentKeys(kept)
  const followed = new WeakSet<OpenQuestions>()
  return {
    follow: (questions) => {
      if (followed.has(questions)) return
      followed.add(questions)
      questions.listen((change) => {
        if (change.kind === 'settled') settled.add(change.question.request_id)
      })
    },
    has: (requestId) => settled.has(requestId),
  }
}
