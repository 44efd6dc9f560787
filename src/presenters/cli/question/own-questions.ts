import { failed, ok, type Result } from '../../../model/errors.ts'
import type {
  ChosenAnswer,
  OpenQuestions,
  Question,
  QuestionChange,
} from '../../../session/questions/session-questions.ts'

/** A question with yes and no. */
export interface OwnQuestion {
  readonly title: string
  /** What the answer is about, below the title. */
  readonly lines: readonly string[]
  /** Without a period. */
  readonly reason: string
}

/** Asks the person; anything but yes is false. */
export type Confirm = (question: OwnQuestion) => Promise<boolean>

/** The questions of a Session, and after them those that a chat asks itself, so that both look and work alike. */
export class OwnQuestions implements OpenQuestions {
  #session: OpenQuestions
  #stopListening: () => void = () => {}
  readonly #listeners = new Set<(change: QuestionChange) => void>()
  #waiting: { readonly question: Question; readonly settle: (yes: boolean) => void }[] = []
  #asked = 0

  constructor(session: OpenQuestions) {
    this.#session = session
    this.over(session)
  }

  get open(): readonly Question[] {
    return [...this.#session.open, ...this.#waiting.map(({ question }) => question)]
  }

  /** Takes the questions of this Session from now on. */
  over(session: OpenQuestions): void {
    this.#stopListening()
    this.#session = session
    this.#stopListening = session.listen((change) => this.#publish(change))
  }

  readonly confirm: Confirm = ({ title, lines, reason }) => {
    this.#asked += 1
    const request_id = `own-${this.#asked}`
    const about = { subject: '', tool: title, effect: 'none', paths: [...lines] } as const
    const question = { request_id, ...about, reason, choices: [...CHOICES] }
    return new Promise((settle) => {
      this.#waiting.push({ question, settle })
      this.#publish({ kind: 'requested', question })
    })
  }

  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    const own = this.#waiting.find(({ question }) => question.request_id === request_id)
    if (own === undefined) return this.#session.answer(request_id, answer)
    const choice = CHOICES.find(({ number }) => number === answer.choice)
    if (choice === undefined) return failed('invalid_args', 'No such choice.')
    this.#waiting = this.#waiting.filter((one) => one !== own)
    const { decision, scope } = choice
    const settled = { request_id, decision, scope, by: 'person' } as const
    own.settle(decision === 'allowed')
    this.#publish({ kind: 'settled', question: own.question, settled })
    return ok(undefined)
  }

  listen(changed: (change: QuestionChange) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  #publish(change: QuestionChange): void {
    for (const changed of this.#listeners) changed(change)
  }
}

const CHOICES = [
  { number: 1, text: 'Yes', decision: 'allowed', scope: 'once' },
  { number: 2, text: 'No', decision: 'denied', scope: 'once' },
] as const
