import type { SessionParts } from '../live/session-parts.ts'

type Ask = SessionParts['person']['ask']
export type Question = Parameters<Ask>[0]
export type Answer = Awaited<ReturnType<Ask>>

/** The answer when there is no one to ask. */
export const NOBODY: Answer = { allowed: false, scope: 'once', by: 'nobody' }

/**
 * The queue of questions of a Turn to a person. The composition root passes `ask` to the Sessions; a presenter shows
 * the first question and answers it. Without a listening presenter, every question is denied.
 */
export class Questions {
  #waiting: { readonly question: Question; readonly settle: (answer: Answer) => void }[] = []
  #listener: (() => void) | undefined

  /** Resolves once. An interrupted Turn withdraws its question. */
  readonly ask: Ask = (question, signal) =>
    new Promise((resolve) => {
      if (this.#listener === undefined || signal.aborted) {
        resolve(NOBODY)
        return
      }
      const takenBack = () => settle(NOBODY)
      const settle = (answer: Answer) => {
        signal.removeEventListener('abort', takenBack)
        this.#waiting = this.#waiting.filter((one) => one.settle !== settle)
        resolve(answer)
        this.#listener?.()
      }
      signal.addEventListener('abort', takenBack)
      this.#waiting.push({ question, settle })
      this.#listener()
    })

  /** The question to answer now. */
  get first(): Question | undefined {
    return this.#waiting[0]?.question
  }

  answerFirst(answer: Answer): void {
    this.#waiting[0]?.settle(answer)
  }

  /** `changed` is called whenever the first question changes. Ends with `leave`. */
  listen(changed: () => void): void {
    this.#listener = changed
  }

  leave(): void {
    this.#listener = undefined
    for (const { settle } of this.#waiting) settle(NOBODY)
  }
}
