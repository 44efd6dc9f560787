import { expect, test } from 'vitest'
import { NOBODY, Questions, type Answer, type Question } from './questions.ts'

const question = (reason: string): Question => ({
  claim: { tool: 'bash', effect: 'run', paths: ['.'], network: false },
  reason,
  offers: [],
})
const YES: Answer = { allowed: true, scope: 'once', by: 'person' }
const calm = () => new AbortController().signal

test('questions wait in order and are answered in sequence', async () => {
  const questions = new Questions()
  const seen: (string | undefined)[] = []
  questions.listen(() => seen.push(questions.first?.reason))
  const answers = [questions.ask(question('one'), calm()), questions.ask(question('two'), calm())]
  questions.answerFirst(YES)
  questions.answerFirst({ ...YES, allowed: false })
  expect(await Promise.all(answers)).toEqual([YES, { ...YES, allowed: false }])
  expect(seen).toEqual(['one', 'one', 'two', undefined])
})

test('without a listener, and after it left, questions are denied', async () => {
  const questions = new Questions()
  expect(await questions.ask(question('early'), calm())).toEqual(NOBODY)
  questions.listen(() => {})
  const waiting = questions.ask(question('late'), calm())
  questions.leave()
  expect(await waiting).toEqual(NOBODY)
})

test('an interrupted Turn withdraws its question', async () => {
  const questions = new Questions()
  questions.listen(() => {})
  const stop = new AbortController()
  const answer = questions.ask(question('long'), stop.signal)
  stop.abort()
  expect([await answer, questions.first]).toEqual([NOBODY, undefined])
})
