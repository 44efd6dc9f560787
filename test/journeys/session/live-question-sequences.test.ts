import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Harness } from '../../../src/session/harness.ts'
import type { AdmittedTurn } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { withClock } from '../../support/session/harness-parts.ts'
import { ASKING, QUESTION_MS } from '../../support/session/live-parts.ts'
import { livePlace } from '../../support/session/live-place.ts'
import { decisionsIn, everyQuestionDecided } from '../../support/session/question-check.ts'
import { value } from '../../support/log/story.ts'
import { virtualClock, type VirtualClock } from '../../support/host/virtual-clock.ts'
import { questionOf } from '../../support/session/watching.ts'

// Random sequences of what clients do, against a model of what must come of it.

type Step =
  | { readonly do: 'attach'; readonly answers: boolean }
  | { readonly do: 'leave'; readonly which: number; readonly by: 'detach' | 'close' }
  | { readonly do: 'ask' }
  | { readonly do: 'answer'; readonly yes: boolean }
  | { readonly do: 'interrupt' }
  | { readonly do: 'advance'; readonly ms: number }

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('attach' as const), answers: fc.boolean() }),
  fc.record({
    do: fc.constant('leave' as const),
    which: fc.nat(),
    by: fc.constantFrom('detach' as const, 'close' as const),
  }),
  fc.constant({ do: 'ask' } as const),
  fc.record({ do: fc.constant('answer' as const), yes: fc.boolean() }),
  fc.constant({ do: 'interrupt' } as const),
  fc.record({
    do: fc.constant('advance' as const),
    ms: fc.constantFrom(1, 60_000, QUESTION_MS - 1, QUESTION_MS, 10 * QUESTION_MS),
  }),
)

/** What must be true of the questions of a Session. */
class Expected {
  readonly decisions: string[] = []
  /** Whether each client can answer. */
  readonly clients: boolean[] = []
  #everAble = false
  /** Of the open question; `undefined` if there is none. */
  #remaining: number | undefined

  get open(): boolean {
    return this.#remaining !== undefined
  }

  attach(answers: boolean): void {
    this.clients.push(answers)
    this.#everAble ||= answers
    if (answers && this.open) this.#remaining = Infinity
  }

  leave(at: number): void {
    const [answers] = this.clients.splice(at, 1)
    if (answers === true && this.open && !this.#able) this.#remaining = QUESTION_MS
  }

  ask(): void {
    if (this.#able) this.#remaining = Infinity
    else if (this.#everAble) this.#remaining = QUESTION_MS
    else this.decisions.push('denied by nobody')
  }

  decide(decision: string): void {
    if (!this.open) return
    this.#remaining = undefined
    this.decisions.push(decision)
  }

  advance(ms: number): void {
    if (this.#remaining === undefined) return
    this.#remaining -= ms
    if (this.#remaining <= 0) this.decide('denied by timeout')
  }

  get #able(): boolean {
    return this.clients.includes(true)
  }
}

/** The Session in which the same happens. */
class Actual {
  readonly clients: Session[] = []
  readonly #harness: Harness
  readonly #clock: VirtualClock
  /** It cannot answer, and stays. */
  readonly first: Session
  #turn: AdmittedTurn | undefined
  #request = 'none'
  #no = 0

  constructor(harness: Harness, clock: VirtualClock, first: Session) {
    this.#harness = harness
    this.#clock = clock
    this.first = first
  }

  async do(step: Step, expected: Expected): Promise<void> {
    switch (step.do) {
      case 'attach':
        expected.attach(step.answers)
        this.clients.push(value(await this.#harness.open(this.first.id, step)))
        return
      case 'leave': {
        if (this.clients.length === 0) return
        const at = step.which % this.clients.length
        expected.leave(at)
        await this.clients.splice(at, 1)[0]?.[step.by]()
        return
      }
      case 'ask': {
        const wasOpen = expected.open
        const turn = await this.first.admit('Write "rope" to rope.txt')
        if (wasOpen) {
          expect(turn).toMatchObject({ error: { kind: 'turn_in_progress' } })
          return
        }
        this.#turn = value(turn)
        expected.ask()
        if (!expected.open) return
        const { request_id, choices } = await questionOf(this.first)
        this.#request = request_id
        this.#no = choices.length
        return
      }
      case 'answer': {
        const kind = this.#request === 'none' ? 'not_found' : 'question_closed'
        const answered = await this.#harness.answer(this.#request, {
          choice: step.yes ? 1 : this.#no,
        })
        expect(answered).toMatchObject(expected.open ? { ok: true } : { error: { kind } })
        return expected.decide(`${step.yes ? 'allowed' : 'denied'} by person`)
      }
      case 'interrupt':
        this.first.interrupt()
        return expected.decide('denied by interrupt')
      case 'advance':
        this.#clock.advance(step.ms)
        return expected.advance(step.ms)
      default:
        return step satisfies never
    }
  }

  /** A settled question lets its Turn end. */
  async turnOver(): Promise<void> {
    if (this.#turn !== undefined) value(await this.#turn.done)
    this.#turn = undefined
  }
}

test('whatever clients do, each question gets the one decision that the model predicts', async () => {
  const { parts } = await livePlace()
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 25 }), async (steps) => {
      const clock = virtualClock()
      const harness = new Harness(withClock(parts, clock))
      const expected = new Expected()
      const first = value(await harness.create(ASKING))
      const actual = new Actual(harness, clock, first)
      for (const step of [...steps, { do: 'interrupt' } as const]) {
        await actual.do(step, expected)
        expect(first.questions.length === 1).toBe(expected.open)
        if (!expected.open) await actual.turnOver()
      }
      const { events } = first
      expect(everyQuestionDecided(events)).toEqual([])
      expect(decisionsIn(events).map(({ decision, by }) => `${decision} by ${by}`)).toEqual(
        expected.decisions,
      )
      await Promise.all([first, ...actual.clients].map((client) => client.close()))
      expect([harness.openSessions, clock.pending()]).toEqual([0, []])
    }),
    { numRuns: 60 },
  )
})
