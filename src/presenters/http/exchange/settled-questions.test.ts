import { expect, test } from 'vitest'
import type { OpenQuestions, QuestionChange } from '../../../session/questions/session-questions.ts'
import { settledQuestions } from './settled-questions.ts'

test('only settled questions are known, each Session is followed once, and the oldest is forgotten', () => {
  const listening: ((change: QuestionChange) => void)[] = []
  const questions: OpenQuestions = {
    open: [],
    answer: () => Promise.reject(new Error('not used')),
    listen: (changed) => {
      listening.push(changed)
      return () => {}
    },
  }
  const settled = settledQuestions(2)
  settled.follow(questions)
  settled.follow(questions)
  expect(listening).toHaveLength(1)
  const tell = (kind: QuestionChange['kind'], request_id: string) => {
    const question = { request_id }
    for (const changed of listening) changed({ kind, question } as QuestionChange)
  }
  tell('requested', 'a')
  expect(settled.has('a')).toBe(false)
  for (const id of ['a', 'b', 'c']) tell('settled', id)
  expect(['a', 'b', 'c'].map((id) => settled.has(id))).toEqual([false, true, true])
})
