import type { SessionParts } from '../live/session-parts.ts'

type Ask = SessionParts['person']['ask']
export type Question = Parameters<Ask>[0]
export type Answer = Awaited<ReturnType<Ask>>

/** The answer where there is no one to ask. */
export const NOBODY: Answer = { allowed: false, scope: 'once', by: 'nobody' }

/**
 * Where questions of a Turn wait for a person. The composition root hands `ask` to the Sessions; a presenter shows what waits
 * and answers it. Before a presenter listens, and after it left, there is nobody to ask.
 */
export class Questions {
  #waiting: { readonly question: Question; readonly settle: (answer: Answer) => void }[] = []
  #listener: (() => void) | undefined

  /** Answers once. An interrupted Turn takes its question back. */
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

  /** The one to be answered now. */
  get first(): Question | undefined {
    return this.#waiting[0]?.question
  }

  answerFirst(answer: Answer): void {
    this.#waiting[0]?.settle(answer)
  }

  /** `changed` is called whenever another question, or none, is the first. Ends with `leave`. */
  listen(changed: () => void): void {
    this.#listener = changed
  }

  leave(): void {
    this.#listener = undefined
    for (const { settle } of this.#waiting) settle(NOBODY)
  }
}
