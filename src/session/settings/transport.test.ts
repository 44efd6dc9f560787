import { expect, test } from 'vitest'
import { transportOf } from './transport.ts'

const VARIABLE = 'HAWSER_OPENAI_TRANSPORT'

test('the environment overrides the settings, and the default is a socket with fallback', () => {
  const settings = { providers: { openai: { transport: 'http-sse' as const } } }
  expect(transportOf({ [VARIABLE]: 'websocket' }, settings)).toMatchObject({ value: 'websocket' })
  expect(transportOf({ [VARIABLE]: '' }, settings)).toMatchObject({ value: 'http-sse' })
  expect(transportOf({}, {})).toMatchObject({ value: 'auto' })
})

test('an unknown transport is an error that names it', () => {
  expect(transportOf({ [VARIABLE]: 'pigeon' }, {})).toMatchObject({
    error: { kind: 'not_configured' },
  })
})
