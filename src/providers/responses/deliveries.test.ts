import { expect, test } from 'vitest'
import { systemClock } from '../../host/clock.ts'
import { responsesProvider } from './stream.ts'

test('a relay declines sockets, and the reason is recorded', () => {
  const provider = responsesProvider({
    key: undefined,
    baseUrl: 'http://relay',
    idleMs: 1_000,
    clock: systemClock,
    transport: 'relayed',
  })
  const delivery = provider.delivery?.({
    session: 'session',
    model: 'model',
    body: Buffer.from('{}'),
    sha256: '',
    segments: [],
    bodyOptions: { cacheKey: 'key', marks: [] },
  })
  expect(delivery).toMatchObject({
    transport: 'http-sse',
    continuation: { used: false, reset_reason: 'relayed' },
  })
})
