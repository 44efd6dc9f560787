import { expect, test } from 'vitest'
import type { Settings } from '../../model/settings.ts'
import { chooseProvider, providerOf, type ChoiceOptions } from './choice.ts'

const KEY = 'sk-canary-0001'
const ANTHROPIC = { ANTHROPIC_API_KEY: KEY }
const OPENAI = { OPENAI_API_KEY: KEY }

interface Sources {
  readonly option?: string
  readonly env?: Readonly<Record<string, string>>
  readonly settings?: Settings
}

function provider({ option, env = {}, settings = {} }: Sources) {
  const { provider: name, because } = providerOf({ provider: option, env, settings })
  return [name, because]
}

test('a provider comes from the option, the environment, the settings, a key, or is the offline one', () => {
  const settings = { provider: 'openai' }
  const env = { ...ANTHROPIC, HAWSER_PROVIDER: 'openai-chat' }
  expect(provider({ option: 'rehearsal', env, settings })).toEqual(['rehearsal', 'option'])
  expect(provider({ env, settings })).toEqual(['openai-chat', 'environment'])
  expect(provider({ env: ANTHROPIC, settings })).toEqual(['openai', 'settings'])
  expect(provider({ env: ANTHROPIC })).toEqual(['anthropic', 'key'])
  expect(provider({})).toEqual(['rehearsal', 'nothing_else'])
})

const STORED = {
  anthropic: { key: KEY },
  openai: { key: KEY },
  'openai-chat': { base_url: 'http://127.0.0.1:8080/v1' },
}

test.each<[Sources, string]>([
  [{ env: { ...OPENAI, ...ANTHROPIC } }, 'anthropic'],
  [{ env: OPENAI, settings: { providers: STORED } }, 'openai'],
  [{ settings: { providers: STORED } }, 'anthropic'],
  [{ settings: { providers: { ...STORED, anthropic: {} } } }, 'openai'],
  [{ settings: { providers: { 'openai-chat': STORED['openai-chat'] } } }, 'openai-chat'],
])('of several keys the first counts: %j', (sources, name) => {
  expect(provider(sources)).toEqual([name, 'key'])
})

test.each<[Sources]>([
  [{ env: { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '\n', HAWSER_PROVIDER: '' } }],
  [{ option: '' }],
  [{ env: { ANTHROPIC_BASE_URL: 'https://example.com' } }],
  [{ settings: { providers: { anthropic: { base_url: 'https://example.com' } } } }],
  [{ settings: { providers: { 'openai-chat': { key: KEY } } } }],
])('empty or incomplete sources choose nothing: %j', (sources) => {
  expect(provider(sources)).toEqual(['rehearsal', 'nothing_else'])
})

function model(options: Partial<ChoiceOptions>) {
  const defaults = new Map([
    ['anthropic', 'claude-default'],
    ['openai', 'gpt-default'],
  ])
  const defaultOf = (name: string) => defaults.get(name)
  const chosen = chooseProvider({ env: {}, settings: {}, defaultOf, ...options })
  return chosen.ok ? `${chosen.value.provider}/${chosen.value.model}` : chosen.error.kind
}

test('a model comes from the option, the settings, or is the default of its provider', () => {
  const settings = { provider: 'openai', model: 'gpt-set' }
  expect(model({ settings, model: 'gpt-said' })).toBe('openai/gpt-said')
  expect(model({ settings })).toBe('openai/gpt-set')
  expect(model({ settings: { provider: 'openai' } })).toBe('openai/gpt-default')
  expect(model({})).toBe('rehearsal/rehearsal')
})

test('the model of the settings applies only to the provider that they select', () => {
  const settings = { provider: 'openai', model: 'gpt-set' }
  expect(model({ settings, provider: 'openai' })).toBe('openai/gpt-set')
  expect(model({ settings, provider: 'anthropic' })).toBe('anthropic/claude-default')
  expect(model({ settings, env: { HAWSER_PROVIDER: 'anthropic' } })).toBe(
    'anthropic/claude-default',
  )
  expect(model({ settings, provider: 'rehearsal' })).toBe('rehearsal/rehearsal')
  const alone = { model: 'claude-set' }
  expect(model({ settings: alone, env: ANTHROPIC })).toBe('anthropic/claude-set')
  expect(model({ settings: alone, env: ANTHROPIC, provider: 'anthropic' })).toBe(
    'anthropic/claude-set',
  )
  expect(model({ settings: alone, env: ANTHROPIC, provider: 'openai' })).toBe('openai/gpt-default')
})

test('the offline model does not answer under the name of another', () => {
  expect(model({ settings: { model: 'gpt-set' } })).toBe('rehearsal/rehearsal')
  const meant = { provider: 'rehearsal', model: 'mine' }
  expect(model({ settings: meant })).toBe('rehearsal/mine')
})

test('an unknown provider, and one without a known model, are not configured', () => {
  expect(model({ provider: 'openai-chat' })).toBe('not_configured')
  expect(model({ provider: 'openai-chat', model: 'm' })).toBe('openai-chat/m')
  const unknown = chooseProvider({
    provider: 'nimbus\u001b[2J',
    env: {},
    settings: {},
    defaultOf: () => undefined,
  })
  expect(unknown).toMatchObject({
    error: {
      kind: 'not_configured',
      details: { known: ['anthropic', 'openai', 'openai-chat', 'rehearsal'] },
    },
  })
  expect(JSON.stringify(unknown.ok ? '' : unknown.error.message)).not.toContain('\u001b')
})
