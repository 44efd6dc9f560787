import { expect, test } from 'vitest'
import { environmentOf, liveTarget, probePlan, REHEARSAL_PROVIDERS } from './plan.ts'

const CHOICE = { provider: 'openai', model: 'model' }
const ENV = { OPENAI_API_KEY: 'k-openai', ANTHROPIC_API_KEY: 'k-anthropic' }
const defaultOf = (provider: string) => `${provider} default`

test('a plan varies one factor, with the older behaviour first', () => {
  const { variants, workspaces, least_calls } = probePlan('transport', CHOICE)
  expect({ variants, workspaces, least_calls }).toEqual({
    variants: [
      { name: 'http-sse', env: { HAWSER_OPENAI_TRANSPORT: 'http-sse' }, early: false },
      { name: 'websocket', env: { HAWSER_OPENAI_TRANSPORT: 'websocket' }, early: false },
    ],
    workspaces: 1,
    least_calls: 12,
  })
})

test('a contract is tried in two workspaces, because a path in Layer 0 costs in the second', () => {
  const { variants, workspaces, least_calls } = probePlan('contract', CHOICE)
  expect({ variants, workspaces, least_calls }).toEqual({
    variants: [
      { name: 'early', env: {}, early: true },
      { name: 'late', env: {}, early: false },
    ],
    workspaces: 2,
    least_calls: 24,
  })
})

test('live, a transport is varied on the only provider with two, a contract on the chosen one', () => {
  const options = { env: ENV, settings: {}, defaultOf }
  expect(liveTarget('transport', options)).toMatchObject({
    value: { provider: 'openai', model: 'openai default', credentials: { key: 'k-openai' } },
  })
  expect(liveTarget('contract', options)).toMatchObject({
    value: { provider: 'anthropic', credentials: { key: 'k-anthropic' } },
  })
})

test('live without a key, or with the offline model, nothing is sent', () => {
  const options = { env: {}, settings: {}, defaultOf }
  for (const vary of ['transport', 'contract'] as const) {
    expect(liveTarget(vary, options)).toMatchObject({ error: { kind: 'not_configured' } })
  }
})

test('the offline model replaces the vendor, and its key is too short to be redacted', () => {
  const at = (provider: keyof typeof REHEARSAL_PROVIDERS) =>
    environmentOf({ provider: REHEARSAL_PROVIDERS[provider], model: 'm' }, 'http://127.0.0.1:9')
  expect(at('transport')).toEqual({
    OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
    OPENAI_API_KEY: 'none',
  })
  expect(at('contract')).toEqual({
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
    ANTHROPIC_API_KEY: 'none',
  })
})

test('a server that needs no key is called without one', () => {
  const credentials = { key: undefined, baseUrl: 'http://127.0.0.1:8/v1' }
  expect(environmentOf({ provider: 'openai-chat', model: 'm', credentials }, '')).toEqual({
    OPENAI_BASE_URL: 'http://127.0.0.1:8/v1',
  })
})
