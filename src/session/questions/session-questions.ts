import type { Clock } from '../../host/clock.ts'
import type { Ids } from '../../host/ids.ts'
import { failed, type Result } from '../../model/errors.ts'
import type { EphemeralData, EphemeralEvent, EventData } from '../../model/events/event.ts'
import type { SessionId, TurnId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'
import type { PermissionAnswer, PermissionQuestion } from '../../turn/parts/permission.ts'
import { answerOf, choicesOf, shownChoice, type Choice } from './choices.ts'

/** An open question, as every client sees it. */
export type Question = EphemeralData<'permission_requested'>
export type SettledQuestion = EphemeralData<'permission_settled'>

/** A choice of a question by its number, with its text if it has a field. */
export interface ChosenAnswer {
  readonly choice: number
  readonly text?: string | undefined
}

/** What happened to a question. */
export type QuestionChange =
  | { readonly kind: 'requested'; readonly question: Question }
  | { readonly kind: 'settled'; readonly question: Question; readonly settlement: SettledQuestion }

/** The open questions of a Session, for its clients. */
export interface OpenQuestions {
  /** The oldest first. */
  readonly open: readonly Question[]
  /**
   * The first answer counts; later ones are `question_closed`. Resolves when the decision is durable. An answer that does
   * not fit the question is `invalid_args`, and the question stays open.
   */
  answer(request_id: string, answer: ChosenAnswer): Promise<Result<void>>
  /** Calls `changed` for each question that is asked or settled, until the returned function is called; it must not throw. */
  listen(changed: (change: QuestionChange) => void): () => void
}

/** What watchers of the Session receive about a question. */
export type QuestionUpdate = EphemeralEvent<'permission_requested' | 'permission_settled'>

export interface QuestionParts {
  readonly clock: Pick<Clock, 'after'>
  readonly ids: Pick<Ids, 'request'>
  /** How long a question waits while no client is attached that can answer. */
  readonly waitMs: number
  /** Passes the update to the watchers of the Session. */
  readonly publish: (update: QuestionUpdate) => void
  readonly session: SessionId
  /** The text without keys. */
  readonly redact: (text: string) => string
}

/**
 * The permission questions of one Session. A question waits as long as a client is attached that can answer, and then for
 * a limited time for one to come back. Where no such client was ever attached, nothing is asked.
 */
export class SessionQuestions implements OpenQuestions {
  readonly #parts: QuestionParts
  readonly #listeners = new Set<(change: QuestionChange) => void>()
  #waiting: WaitingQuestion[] = []
  /** Answered, but the decision is not durable yet. */
  #unrecordedQuestions: UnrecordedQuestion[] = []
  /** The newest settled questions. */
  #settledQuestions: EphemeralEvent<'permission_settled'>[] = []
  #able = 0
  #wasAble = false

  constructor(parts: QuestionParts) {
    this.#parts = parts
  }

  /** False if a question would be denied at once, with `by: nobody`. */
  get canAsk(): boolean {
    return this.#able > 0 || (this.#wasAble && this.#parts.waitMs > 0)
  }

  get open(): readonly Question[] {
    return this.#waiting.map(({ question }) => question)
  }

  /** For a watcher that comes late: all open questions, and the newest settled ones. */
  get updates(): readonly QuestionUpdate[] {
    return [...this.#waiting.map(({ update }) => update), ...this.#settledQuestions]
  }

  /** Whether this Session asked this question; the oldest are forgotten. */
  knows(request_id: string): boolean {
    return this.updates.some(({ data }) => data.request_id === request_id)
  }

  /** Resolves once; an interrupted Turn ends its question. Only if `canAsk`. */
  async ask(
    turn: TurnId,
    permissionQuestion: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> {
    if (signal.aborted) return INTERRUPTED
    return new Promise((resolve) => {
      const choices = choicesOf(permissionQuestion)
      const request_id = this.#parts.ids.request()
      const question = shownQuestion(request_id, permissionQuestion, choices)
      const interrupted = () => this.#settle(waiting, INTERRUPTED)
      const own = { session_id: this.#parts.session, turn_id: turn }
      const update = { type: 'permission_requested', ...own, data: question } as const
      const waiting: WaitingQuestion = {
        turn,
        update,
        permissionQuestion,
        question,
        choices,
        resolve: (answer) => {
          signal.removeEventListener('abort', interrupted)
          resolve(answer)
        },
        stopTimer: () => {},
      }
      signal.addEventListener('abort', interrupted)
      this.#waiting.push(waiting)
      this.#parts.publish(update)
      this.#notify({ kind: 'requested', question })
      if (this.#able === 0) this.#startTimer(waiting)
    })
  }

  async answer(request_id: string, { choice, text }: ChosenAnswer): Promise<Result<void>> {
    const waiting = this.#waiting.find(({ question }) => question.request_id === request_id)
    if (waiting === undefined) return this.#notOpen(request_id)
    const chosen = waiting.choices[choice - 1]
    if (chosen === undefined) return noSuchChoice(waiting.choices.length)
    const answer = answerOf(chosen, text === undefined ? text : this.#parts.redact(text))
    if (typeof answer === 'string') return failed('invalid_args', answer, { request_id })
    const recorded = new Promise<Result<void>>((resolve) => {
      this.#unrecordedQuestions.push({ waiting, resolve })
    })
    this.#settle(waiting, answer)
    return recorded
  }

  listen(changed: (change: QuestionChange) => void): () => void {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  /** A client that can answer is attached, until the returned function is called. */
  attach(): () => void {
    this.#able += 1
    this.#wasAble = true
    for (const { stopTimer } of this.#waiting) stopTimer()
    let attached = true
    return () => {
      if (!attached) return
      attached = false
      this.#able -= 1
      if (this.#able > 0) return
      for (const waiting of this.#waiting) this.#startTimer(waiting)
    }
  }

  /** A decision of this Turn is durable, or could not be recorded. */
  noteRecord(decision: EventData<'permission_decision'>, outcome: Result<void>): void {
    const done = this.#unrecordedQuestions.find(({ waiting: { permissionQuestion } }) =>
      isAbout(permissionQuestion, decision),
    )
    if (done === undefined) return
    this.#unrecordedQuestions = this.#unrecordedQuestions.filter((one) => one !== done)
    done.resolve(outcome)
  }

  /** The Turn has ended: decisions of it that are not recorded never will be. Only a defect leaves a question open. */
  turnEnded(turn: TurnId): void {
    for (const waiting of this.#waiting)
      if (waiting.turn === turn) this.#settle(waiting, INTERRUPTED)
    const own = this.#unrecordedQuestions.filter(({ waiting }) => waiting.turn === turn)
    this.#unrecordedQuestions = this.#unrecordedQuestions.filter(
      ({ waiting }) => waiting.turn !== turn,
    )
    for (const { resolve } of own) resolve(notRecorded())
  }

  #startTimer(waiting: WaitingQuestion): void {
    const { clock, waitMs } = this.#parts
    if (waitMs === 0) return this.#settle(waiting, TIMEOUT)
    waiting.stopTimer = clock.after(waitMs, () => this.#settle(waiting, TIMEOUT))
  }

  #settle(waiting: WaitingQuestion, answer: PermissionAnswer): void {
    if (!this.#waiting.includes(waiting)) return
    waiting.stopTimer()
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    const { question, turn } = waiting
    const settlement = settledBy(question, answer)
    const own = { session_id: this.#parts.session, turn_id: turn }
    const update = { type: 'permission_settled', ...own, data: settlement } as const
    this.#settledQuestions = [...this.#settledQuestions, update].slice(-SETTLED_KEPT)
    // First, so that a defect of a listener does not hold up the Turn, which continues after this function.
    waiting.resolve(answer)
    this.#parts.publish(update)
    this.#notify({ kind: 'settled', question, settlement })
  }

  /** Throws the first defect of a listener after all were called. */
  #notify(change: QuestionChange): void {
    const defects: unknown[] = []
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (defect) {
        defects.push(defect)
      }
    }
    if (defects.length > 0) throw defects[0]
  }

  #notOpen(request_id: string): Result<never> {
    if (this.knows(request_id))
      return failed(
        'question_closed',
        'This question is closed: it was answered, or its Turn ended.',
      )
    return failed('not_found', 'No such question in this Session.')
  }
}

/** The answer where there is no one to ask. */
export const NOBODY: PermissionAnswer = { isAllowed: false, scope: 'once', by: 'nobody' }
const TIMEOUT: PermissionAnswer = { isAllowed: false, scope: 'once', by: 'timeout' }
const INTERRUPTED: PermissionAnswer = { isAllowed: false, scope: 'once', by: 'interrupt' }

/** How many settled questions are distinguished from unknown ones. */
const SETTLED_KEPT = 256

interface WaitingQuestion {
  readonly turn: TurnId
  readonly update: EphemeralEvent<'permission_requested'>
  readonly permissionQuestion: PermissionQuestion
  readonly question: Question
  readonly choices: readonly Choice[]
  readonly resolve: (answer: PermissionAnswer) => void
  stopTimer: () => void
}

interface UnrecordedQuestion {
  readonly waiting: WaitingQuestion
  readonly resolve: (outcome: Result<void>) => void
}

function shownQuestion(
  request_id: string,
  { about, claim, arguments: given, diff, reason }: PermissionQuestion,
  choices: readonly Choice[],
): Question {
  const { call_id, subject } = about
  const { tool, effect, paths, network, upload, hydration } = claim
  return {
    request_id,
    ...definedFields({ call_id }),
    subject,
    tool,
    effect,
    paths: [...paths],
    ...(network ? { network } : {}),
    ...definedFields({ arguments: given, diff, upload, hydration }),
    reason,
    choices: choices.map(shownChoice),
  }
}

function settledBy(
  { request_id, call_id }: Question,
  { isAllowed, scope, by, reason }: PermissionAnswer,
): SettledQuestion {
  return {
    request_id,
    ...definedFields({ call_id }),
    decision: isAllowed ? 'allowed' : 'denied',
    scope,
    by,
    ...definedFields({ reason }),
  }
}

function isAbout(
  { about }: PermissionQuestion,
  { call_id, subject }: EventData<'permission_decision'>,
): boolean {
  return about.call_id === call_id && about.subject === subject
}

function noSuchChoice(count: number): Result<never> {
  return failed('invalid_args', `Choose a number from 1 to ${count}.`, { choices: count })
}

function notRecorded(): Result<never> {
  return failed('interrupted', 'The Turn ended before the answer was recorded.')
}
