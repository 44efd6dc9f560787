import { Harness } from '../../../src/session/harness.ts'
import type { Result } from '../../../src/model/errors.ts'
import type { Session } from '../../../src/session/session.ts'
import type { SessionParts } from '../../../src/session/live/session-parts.ts'
import type { OpenQuestions, Question } from '../../../src/session/questions/session-questions.ts'
import { value } from '../log/story.ts'

/** An answer by its meaning. `rule`: the kind of rule that a lasting yes grants. */
export interface Answer {
  readonly allowed: boolean
  readonly scope: 'once' | 'session' | 'workspace'
  readonly rule?: { readonly kind: string } | undefined
  /** Why the person denies it. */
  readonly reason?: string | undefined
}

/** How the person of a test answers a question; `undefined` leaves it open. */
export type Ask = (question: Question) => Promise<Answer | undefined>

/** The parts of a Session, and the person that answers its questions. Without `ask`, no client can answer. */
export interface AskedParts extends SessionParts {
  readonly person: SessionParts['person'] & { readonly ask?: Ask | undefined }
}

/** A Harness whose clients answer with the function in its parts. Each question is answered once, however many clients open its Session. */
export class AskedHarness extends Harness {
  readonly #ask: Ask | undefined
  readonly #listening = new WeakSet<OpenQuestions>()

  constructor(parts: AskedParts) {
    super(parts)
    this.#ask = parts.person.ask
  }

  override async create(
    ...[options, client]: Parameters<Harness['create']>
  ): Promise<Result<Session>> {
    return this.#answering(await super.create(options, { ...this.#client(), ...client }))
  }

  override async open(...[id, client]: Parameters<Harness['open']>): Promise<Result<Session>> {
    return this.#answering(await super.open(id, { ...this.#client(), ...client }))
  }

  #client() {
    return { answers: this.#ask !== undefined }
  }

  #answering(opened: Result<Session>): Result<Session> {
    const ask = this.#ask
    if (!opened.ok || ask === undefined) return opened
    const { openQuestions: questions } = opened.value
    if (this.#listening.has(questions)) return opened
    this.#listening.add(questions)
    questions.listen((change) => {
      if (change.kind === 'requested') void answerWith(ask, questions, change.question)
    })
    return opened
  }
}

/** A defect of `ask` denies the question, so that the test fails with the defect and not after its time limit. */
async function answerWith(ask: Ask, questions: OpenQuestions, question: Question): Promise<void> {
  try {
    const answer = await ask(question)
    if (answer !== undefined) await give(questions, question, answer)
  } catch (defect) {
    await give(questions, question, { allowed: false, scope: 'once' })
    throw defect
  }
}

/** The question may be closed already: `ask` may interrupt the Turn. */
async function give(questions: OpenQuestions, question: Question, answer: Answer): Promise<void> {
  const { number, field } = choiceFor(question, answer)
  const text = answer.reason ?? field?.text
  const given = await questions.answer(question.request_id, { choice: number, text })
  if (!given.ok && given.error.kind !== 'question_closed') value(given)
}

type Choice = Question['choices'][number]

/** The choice with this meaning. */
function choiceFor({ choices }: Question, { allowed, scope, rule }: Answer): Choice {
  const chosen = choices.find(
    (choice) =>
      choice.decision === (allowed ? 'allowed' : 'denied') &&
      choice.scope === scope &&
      (rule === undefined || choice.rule?.kind === rule.kind),
  )
  if (chosen !== undefined) return chosen
  throw new Error(`no such choice: ${JSON.stringify({ allowed, scope, rule, choices })}`)
}
