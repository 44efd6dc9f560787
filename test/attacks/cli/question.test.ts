import { expect, test } from 'vitest'
import type { Input } from '../../../src/host/streams.ts'
import { Asking } from '../../../src/presenters/cli/question/asking.ts'
import { listenToKeys } from '../../../src/presenters/cli/screen/keyboard.ts'
import { askedQuestions, permissionQuestion, TURN } from '../../support/session/asked-questions.ts'
import { foolsSimpleProgram, HOSTILE_INPUTS } from './question-inputs.ts'

/** A clock that advances on request, alarm by alarm. */
function manualClock() {
  let now = 0
  const alarms = new Map<() => void, number>()
  return {
    clock: {
      now: () => now,
      monotonicMs: () => now,
      after: (ms: number, then: () => void) => {
        const alarm = () => then()
        alarms.set(alarm, now + ms)
        return () => void alarms.delete(alarm)
      },
    },
    pass: (ms: number) => {
      const until = now + ms
      for (;;) {
        const [next] = [...alarms].filter(([, due]) => due <= until).sort((a, b) => a[1] - b[1])
        if (next === undefined) break
        now = next[1]
        alarms.delete(next[0])
        next[0]()
      }
      now = until
    },
  }
}

function question() {
  const { clock, pass } = manualClock()
  const { questions } = askedQuestions(clock, 0)
  questions.attach()
  const asking = new Asking(
    clock,
    () => {},
    () => {},
  )
  asking.watch(questions)
  let send: (bytes: Buffer | undefined) => void = () => {}
  const input: Input = {
    isTTY: true,
    source: 'terminal',
    ready: async () => true,
    all: async () => undefined,
    upTo: async () => Buffer.alloc(0),
    interrupt: () => {},
    keys: (listener) => {
      send = listener
      return () => {}
    },
  }
  listenToKeys(
    input,
    clock,
    (key) => void asking.take(key),
    () => {},
  )
  const answered = questions.ask(TURN, permissionQuestion(), new AbortController().signal)
  return { asking, pass, answered, type: (text: string) => send(Buffer.from(text)) }
}

test.each(HOSTILE_INPUTS)('$title at a question is not an answer', ({ pieces }) => {
  // Before it accepts keys, at that moment, and long after; pieces together and with pauses that split no sequence.
  for (const [before, between] of [
    [0, 0],
    [300, 0],
    [5_000, 0],
    [5_000, 20],
  ] as const) {
    const { asking, pass, type } = question()
    pass(before)
    for (const piece of pieces) {
      type(piece)
      pass(between)
    }
    pass(5_000)
    expect(asking.waits).toBe(true)
  }
})

test('an escape sequence that arrives in pieces, more slowly than keys do, is not an answer', () => {
  const { asking, pass, type } = question()
  pass(5_000)
  for (const piece of ['\u001b', '[', 'B', '\u001b', 'O', 'A']) {
    type(piece)
    pass(120)
  }
  expect(asking.waits).toBe(true)
})

test('most of them would fool a program that takes letters and Enter as answers', () => {
  expect(HOSTILE_INPUTS.length).toBeGreaterThanOrEqual(30)
  expect(HOSTILE_INPUTS.filter(foolsSimpleProgram).length).toBeGreaterThanOrEqual(25)
})

test('a choice and Enter, as a person presses them, is an answer', async () => {
  const { pass, type, answered } = question()
  pass(1_000)
  type('1')
  pass(200)
  type('\r')
  expect(await answered).toEqual({ isAllowed: true, scope: 'once', by: 'person' })
})
