import { expect, test } from 'vitest'
import { failed } from '../../model/errors.ts'
import { failureAnswer, sessionFailure } from './exchange/failure-answer.ts'
import { byteRange, disposition } from './translate.ts'

test.each([
  [undefined, 'all'],
  ['bytes=0-4', { start: 0, end: 5 }],
  ['bytes=5-', { start: 5, end: 10 }],
  ['bytes=-3', { start: 7, end: 10 }],
  ['bytes=-30', { start: 0, end: 10 }],
  ['bytes=9-99', { start: 9, end: 10 }],
  ['bytes=10-', 'none'],
  ['bytes=4-3', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=-', 'all'],
  ['bytes=0-1,3-4', 'all'],
  ['bytes=1e1-', 'all'],
  ['lines=0-1', 'all'],
])('of ten bytes, the range %s selects %j', (header, selected) => {
  expect(byteRange(header, 10)).toEqual(selected)
})

test('nothing of an empty Resource can be selected', () => {
  expect([byteRange('bytes=0-', 0), byteRange('bytes=-1', 0), byteRange(undefined, 0)]).toEqual([
    'none',
    'none',
    'all',
  ])
})

test('a name cannot leave its header field', () => {
  const name = `a";\r\nX-Evil: 1'(é).html\uD800`
  expect(disposition('attachment', name)).toBe(
    `attachment; filename="a____X-Evil_ 1____.html_"; filename*=UTF-8''a%22%3B%0D%0AX-Evil%3A%201%27%28%C3%A9%29.html%EF%BF%BD`,
  )
})

test('an error response has the type of its kind, and of a Session its own', () => {
  const { error } = failed('not_found', 'Not there.', { a: 1 }, [{ action: 'Look.' }])
  const shape = { kind: 'not_found', message: 'Not there.', details: { a: 1 } }
  const next_actions = [{ action: 'Look.' }]
  expect([failureAnswer(error), sessionFailure(error)]).toEqual([
    { status: 404, body: { ok: false, error: { type: 'NOT_FOUND', ...shape, next_actions } } },
    {
      status: 404,
      body: { ok: false, error: { type: 'SESSION_NOT_FOUND', ...shape, next_actions } },
    },
  ])
})
