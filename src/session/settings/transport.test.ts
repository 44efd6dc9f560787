import { expect, test } from 'vitest'
import { transportOf } from './transport.ts'

const VARIABLE = 'HAWSER_OPENAI_TRANSPORT'

test('the environment goes before the settings, and a socket is tried where neither says anything', () => {
  const settings = { providers: { openai: { transport: 'http-sse' as const } } }
  expect(transportOf({ [VARIABLE]: 'websocket' }, settings)).toMatchObject({ value: 'websocket' })
  expect(transportOf({ [VARIABLE]: '' }, settings)).toMatchObject({ value: 'http-sse' })
  expect(transportOf({}, {})).toMatchObject({ value: 'auto' })
})

test('a way that does not exist is named as what is wrong', () => {
  expect(transportOf({ [VARIABLE]: 'pigeon' }, {})).toMatchObject({
    error: { kind: 'not_configured' },
  })
})
