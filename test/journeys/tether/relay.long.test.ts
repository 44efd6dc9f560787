// An agent without a key reaches its model through the relay, in every dialect.
import { expect, test } from 'vitest'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { VENDOR_DIALECTS } from '../../support/providers/dialects.ts'
import { PRICES } from '../../support/tether/relay-place.ts'
import { relayedSession, turn } from '../../support/tether/relayed-session.ts'

test.each(VENDOR_DIALECTS)('a Turn through the relay in %s', async (dialect) => {
  const { session, vendor, relay } = await relayedSession(dialect)
  expect(await turn(session)).toMatchObject({
    status: 'completed',
    text: expect.stringMatching(/./),
  })
  expect(await turn(session, 'And again')).toMatchObject({ status: 'completed' })
  const usages = session.events.flatMap(({ type, data }) =>
    type === 'provider_usage' ? [data] : [],
  )
  expect(vendor.violations).toEqual([])
  expect(usages.length).toBeGreaterThan(1)
  const declined = { used: false, reset_reason: 'relayed' }
  expect(usages.map(({ continuation }) => continuation)).toEqual(
    usages.map(() => (dialect === 'responses' ? declined : undefined)),
  )
  const total = usages.reduce((sum, { usage: { input, cached_read, cache_write, output } }) => {
    const fresh = input - cached_read - cache_write
    const { input: each, cached_read: read, cache_write: write, output: out } = PRICES
    return sum + (fresh * each + cached_read * read + cache_write * write + output * out) / 1e6
  }, 0)
  const { length: calls } = vendor.requests
  expect(usages).toHaveLength(calls)
  expect(relay.spend).toMatchObject({ calls, estimatedUsd: 0, unpricedCalls: 0 })
  expect(relay.spend.usd).toBeCloseTo(total, 9)
  expect(JSON.stringify(session.events)).not.toContain(CANARY_KEY)
})
