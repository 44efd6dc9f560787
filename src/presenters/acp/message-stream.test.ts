import { expect, test } from 'vitest'
import { readMessage } from './message-stream.ts'

test.each([
  ['a request', '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'],
  ['a notification', '{"jsonrpc":"2.0","method":"session/cancel"}'],
  ['a response', '{"jsonrpc":"2.0","id":"a","result":null}'],
])('%s is passed on', (_what, line) => {
  expect(readMessage(Buffer.from(line))).toEqual({ message: JSON.parse(line) })
})

test.each([
  ['no JSON', Buffer.from('hello'), -32_700, 'invalid_args'],
  ['wrong UTF-8', Buffer.from([0x22, 0xff, 0x22]), -32_700, 'invalid_args'],
  ['a batch', Buffer.from('[]'), -32_600, 'invalid_args'],
  ['another version', Buffer.from('{"jsonrpc":"1.0","method":"a"}'), -32_600, 'invalid_args'],
  [
    'an id that is none',
    Buffer.from('{"jsonrpc":"2.0","id":{},"method":"a"}'),
    -32_600,
    'invalid_args',
  ],
  [
    'parameters that are none',
    Buffer.from('{"jsonrpc":"2.0","method":"a","params":1}'),
    -32_600,
    'invalid_args',
  ],
  [
    'parameters that nest too deeply',
    Buffer.from(`{"jsonrpc":"2.0","method":"a","params":${'['.repeat(9_000)}${']'.repeat(9_000)}}`),
    -32_600,
    'invalid_args',
  ],
  ['too many bytes', 'overlong' as const, -32_602, 'too_large'],
])('%s is answered with an error without an id', (_what, line, code, kind) => {
  expect(readMessage(line)).toMatchObject({
    refusal: { id: null, error: { code, data: { kind } } },
  })
})

test('an empty line is ignored', () => {
  expect(readMessage(Buffer.from(' \r'))).toEqual({ blank: true })
})
