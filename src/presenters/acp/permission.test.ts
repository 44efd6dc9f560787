import { expect, test } from 'vitest'
import { SAMPLE_SESSION } from '../../../test/support/history/log-generator.ts'
import type { Question } from '../../session/questions/session-questions.ts'
import { permissionRequest } from './permission.ts'

const QUESTION: Question = {
  request_id: 'req_1',
  call_id: 'call_1',
  subject: 'write',
  tool: 'write',
  effect: 'write',
  paths: ['a.txt'],
  network: false,
  reason: 'it changes a file',
  choices: [],
}

test.each([
  ['a change', '-a\n+b\n', '```\n-a\n+b\n```'],
  ['the same content', '', 'The content of the file stays the same.'],
])('a question about a file shows %s', (_, diff, shown) => {
  const { toolCall } = permissionRequest({ ...QUESTION, diff }, SAMPLE_SESSION, '/w')
  const texts = (toolCall.content ?? []).map((one) =>
    one.type === 'content' && one.content.type === 'text' ? one.content.text : '',
  )
  expect(texts).toEqual(['it changes a file', shown])
})
