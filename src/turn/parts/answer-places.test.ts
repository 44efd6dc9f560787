import { expect, test } from 'vitest'
import { answerPlaces } from './answer-places.ts'

test('without limits, an answer may contain any file', () => {
  const attachable = answerPlaces(undefined)
  for (let count = 0; count < 20; count += 1) expect(attachable({ kind: 'pdf' })).toBeUndefined()
})

test('an answer with limits contains images only, up to their number', () => {
  const attachable = answerPlaces({ images: 4 })
  expect(attachable({ kind: 'text' })?.code).toBe('unsupported_type')
  for (let count = 0; count < 4; count += 1) expect(attachable({ kind: 'image' })).toBeUndefined()
  expect(attachable({ kind: 'image' })).toMatchObject({
    code: 'budget_exceeded',
    limit: 4,
    actual: 5,
  })
})

test('an answer without places for images contains no file', () => {
  expect(answerPlaces({ images: 0 })({ kind: 'image' })?.code).toBe('unsupported_type')
})
