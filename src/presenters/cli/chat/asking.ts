import type { Clock } from '../../../host/clock.ts'
import type { Line } from '../cell-width.ts'
import { uploadWords } from '../resource-words.ts'
import { visibleLine } from '../visible-text.ts'
import type { Key } from './keys.ts'
import { answerOf, type Question, type Questions } from './questions.ts'
import { aside, sentences } from './rows.ts'
import { callTitle, proposalRows } from './tool-rows.ts'

/**
 * No key counts as an answer until the question was in sight for this long without any: whoever was typing when it came up
 * goes on typing, and allows nothing by that.
 */
const QUIET_MS = 300

/** Puts the questions of a Turn to the person, one after the other. */
export class Asking {
  readonly #questions: Questions
  readonly #clock: Clock
  readonly #changed: () => void
  #shown: Question | undefined
  #open = false
  #cancel = () => {}

  /** `changed`: what is to be shown is something else now. `came`: a question is there that was not before. */
  constructor(questions: Questions, clock: Clock, changed: () => void, came: () => void) {
    this.#questions = questions
    this.#clock = clock
    this.#changed = changed
    questions.listen(() => {
      if (questions.first === this.#shown) return
      this.#shown = questions.first
      this.#wait()
      if (this.#shown !== undefined) came()
      this.#changed()
    })
  }

  /** True when the key was meant for the question; it is then dealt with. */
  take(key: Key): boolean {
    if (this.#shown === undefined) return false
    if (!this.#open) {
      this.#wait()
      return false
    }
    if (key.kind === 'paste') return false
    const answer = answerOf(key.kind === 'text' ? key.text : key.chord, this.#shown)
    if (answer !== undefined) this.#questions.answerFirst(answer)
    return true
  }

  get waits(): boolean {
    return this.#shown !== undefined
  }

  refuse(): void {
    this.#questions.answerFirst({ allowed: false, scope: 'once', by: 'person' })
  }

  /** What is asked. `argumentsOf` gives the model's own words for it. */
  rows(columns: number, argumentsOf: (question: Question) => string): Line[] {
    const question = this.#shown
    if (question === undefined) return []
    const { tool } = question.claim
    const call = { name: tool, arguments: argumentsOf(question) }
    const title = sentences(titleOf(question, call), {
      columns,
      first: '? ',
      firstStyle: { bold: true, colour: 'yellow' },
      style: { bold: true },
    })
    const network = question.claim.network ? ', with the network' : ''
    return [
      ...title.slice(0, 2),
      aside(`  Asked because ${question.reason}${network}.`),
      ...(question.call_id === undefined ? [] : proposalRows(call, columns)),
    ]
  }

  /** The keys that answer, as soon as they do. */
  hint(): Line {
    const question = this.#shown
    if (question === undefined) return []
    if (!this.#open) return aside('A question …')
    const session = question.mayGrant ? ' · a for this Session' : ''
    return [{ text: `Allow? y once${session} · n no`, style: { bold: true, colour: 'yellow' } }]
  }

  close(): void {
    this.#cancel()
    this.#questions.leave()
  }

  #wait(): void {
    this.#cancel()
    this.#open = false
    this.#cancel =
      this.#shown === undefined
        ? () => {}
        : this.#clock.after(QUIET_MS, () => {
            this.#open = true
            this.#changed()
          })
  }
}

/** A call in the model's words; what no call is about, in ours. */
function titleOf({ call_id, claim }: Question, call: Parameters<typeof callTitle>[0]): string {
  if (claim.upload !== undefined) return uploadWords(claim.upload)
  if (call_id !== undefined) return callTitle(call)
  return `${claim.tool} ${claim.paths.map(visibleLine).join(', ')}`
}
