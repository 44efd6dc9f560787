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

/** A choice of such a question. Escape chooses the first one that denies. */
export type OwnChoice = Omit<Question['choices'][number], 'number' | 'scope'>

/** A wider mode that a question of the Session offers together with yes. */
export interface WiderMode {
  readonly isOffered: () => boolean
  readonly change: () => Promise<void>
}

/** Asks the person; anything but yes is false. */
export type Confirm = (question: OwnQuestion) => Promise<boolean>

/** The questions of a Session, and after them those that a chat asks itself, so that both look and work alike. */
export class OwnQuestions implements OpenQuestions {
  #session: OpenQuestions
  #stopListening: () => void = () => {}
  readonly #listeners = new Set<(change: QuestionChange) => void>()
  readonly #wider: WiderMode | undefined
  #waiting: { readonly question: Question; readonly settle: (answer: ChosenAnswer) => void }[] = []
  #askedCount = 0

  constructor(session: OpenQuestions, wider?: WiderMode) {
    this.#session = session
    this.#wider = wider
    this.over(session)
  }

  get open(): readonly Question[] {
    const asked = this.#session.open.map((question) => this.#offering(question))
    return [...asked, ...this.#waiting.map(({ question }) => question)]
  }

  /** Takes the questions of this Session from now on. */
  over(session: OpenQuestions): void {
    this.#stopListening()
    this.#session = session
    this.#stopListening = session.listen((change) => this.#publish(change))
  }

  readonly confirm: Confirm = async (question) => {
    const { choice } = await this.choose(question, CHOICES)
    return choice === 1
  }

  /** Asks with these choices, numbered from 1. */
  choose(
    { title, lines, reason }: OwnQuestion,
    choices: readonly OwnChoice[],
  ): Promise<ChosenAnswer> {
    this.#askedCount += 1
    const request_id = `own-${this.#askedCount}`
    const about = { subject: '', tool: title, effect: 'none', paths: [...lines] } as const
    const numbered = choices.map((choice, at) => {
      return { ...choice, number: at + 1, scope: 'once' as const }
    })
    const question = { request_id, ...about, reason, choices: numbered }
    return new Promise((settle) => {
      this.#waiting.push({ question, settle })
      this.#publish({ kind: 'requested', question })
    })
  }

  async answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    const own = this.#waiting.find(({ question }) => question.request_id === request_id)
    if (own === undefined) return this.#answerSession(request_id, answer)
    const choice = own.question.choices.find(({ number }) => number === answer.choice)
    if (choice === undefined) return failed('invalid_args', 'No such choice.')
    this.#waiting = this.#waiting.filter((one) => one !== own)
    const { decision, scope } = choice
    const settlement = { request_id, decision, scope, by: 'person' } as const
    own.settle(answer)
    this.#publish({ kind: 'settled', question: own.question, settlement })
    return ok(undefined)
  }

  /** The same question with one more yes, before the no. */
  #offering(question: Question): Question {
    const isCall = question.upload === undefined && question.hydration === undefined
    if (!isCall || this.#wider?.isOffered() !== true) return question
    const { choices } = question
    const allowed = choices.filter(({ decision }) => decision === 'allowed')
    const others = choices.filter(({ decision }) => decision !== 'allowed')
    return { ...question, choices: [...allowed, WIDER, ...others] }
  }

  async #answerSession(request_id: string, answer: ChosenAnswer): Promise<Result<void>> {
    if (answer.choice !== WIDER.number) return this.#session.answer(request_id, answer)
    const once = await this.#session.answer(request_id, { choice: 1 })
    if (once.ok) await this.#wider?.change()
    return once
  }

  listen(changed: (change: QuestionChange) => void): () => void {
    this.#listeners.add(changed)
    return () => this.#listeners.delete(changed)
  }

  #publish(change: QuestionChange): void {
    for (const changed of this.#listeners) changed(change)
  }
}

const CHOICES: readonly OwnChoice[] = [
  { text: 'Yes', decision: 'allowed' },
  { text: 'No', decision: 'denied' },
]

/** Not a number of a choice of the Session, which are numbered from 1. */
const WIDER = {
  number: 0,
  text: 'Yes, once, and switch to auto',
  decision: 'allowed',
  scope: 'once',
} as const
