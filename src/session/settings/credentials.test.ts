import { expect, test } from 'vitest'
import type { RemoteProvider } from '../../model/remote-providers.ts'
import type { Settings } from '../../model/settings.ts'
import { credentialsOf, secretsOf, unredactedKeys } from './credentials.ts'

type Env = Readonly<Record<string, string>>
type Entry = { readonly key?: string; readonly base_url?: string }

const ENV_KEY = 'sk-canary-environment'
const KEY = 'sk-canary-stored'
const PROXY = 'https://proxy.example.com/v1'

function credentials(provider: RemoteProvider, env: Env, entry?: Entry) {
  const settings: Settings = entry === undefined ? {} : { providers: { [provider]: entry } }
  const found = credentialsOf(provider, env, settings)
  if (found.ok) return found.value
  const { kind, details } = found.error
  expect([kind, details['provider']]).toEqual(['not_configured', provider])
  expect(found.error.next_actions.map(({ command }) => command)).toContain(
    'hawser run --provider rehearsal "Hello"',
  )
  expect(JSON.stringify(found.error)).not.toContain('canary')
  return details['reason']
}

const OWN = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  'openai-chat': 'https://api.openai.com/v1',
} as const
const NAMES = {
  anthropic: { key: 'ANTHROPIC_API_KEY', url: 'ANTHROPIC_BASE_URL' },
  openai: { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL' },
  'openai-chat': { key: 'OPENAI_API_KEY', url: 'OPENAI_BASE_URL' },
} as const
const ALL = ['anthropic', 'openai', 'openai-chat'] as const

test.each(ALL)('a key of %s goes to the URL set with it, or to the vendor', (one) => {
  const { key, url } = NAMES[one]
  const expected = { key: ENV_KEY, from: 'environment' }
  expect(credentials(one, { [key]: ENV_KEY })).toEqual({ ...expected, baseUrl: OWN[one] })
  expect(credentials(one, { [key]: ENV_KEY, [url]: PROXY })).toEqual({
    ...expected,
    baseUrl: PROXY,
  })
  const stored = { key: KEY, from: 'settings' }
  expect(credentials(one, {}, { key: KEY })).toEqual({ ...stored, baseUrl: OWN[one] })
  expect(credentials(one, {}, { key: KEY, base_url: PROXY })).toEqual({ ...stored, baseUrl: PROXY })
})

test.each(ALL)('the pair of the environment replaces the stored pair of %s entirely', (one) => {
  const { key, url } = NAMES[one]
  const other = 'https://other.example.com'
  expect(credentials(one, { [key]: ENV_KEY, [url]: other }, { key: KEY, base_url: PROXY })).toEqual(
    { key: ENV_KEY, baseUrl: other, from: 'environment' },
  )
  expect(credentials(one, { [key]: ENV_KEY }, { key: KEY })).toEqual({
    key: ENV_KEY,
    baseUrl: OWN[one],
    from: 'environment',
  })
})

test.each(['anthropic', 'openai'] as const)(
  'a key of the environment does not go to a stored place of %s',
  (one) => {
    const found = credentials(one, { [NAMES[one].key]: ENV_KEY }, { base_url: PROXY })
    expect(found).toEqual({ key: ENV_KEY, baseUrl: OWN[one], from: 'environment' })
  },
)

test.each(ALL)('a stored key of %s does not go to a place of the environment', (one) => {
  const { url } = NAMES[one]
  expect(credentials(one, { [url]: PROXY }, { key: KEY })).toBe('key_of_elsewhere')
  const elsewhere = { [url]: 'https://other.example.com' }
  expect(credentials(one, elsewhere, { key: KEY, base_url: PROXY })).toBe('key_of_elsewhere')
  const same = { key: KEY, baseUrl: PROXY, from: 'settings' }
  expect(credentials(one, { [url]: `${PROXY}/` }, { key: KEY, base_url: PROXY })).toEqual(same)
  const own = { key: KEY, baseUrl: OWN[one], from: 'settings' }
  expect(credentials(one, { [url]: OWN[one] }, { key: KEY })).toEqual(own)
})

test.each(ALL)('without a key %s is not configured', (one) => {
  const { key, url } = NAMES[one]
  expect(credentials(one, {})).toBe('no_key')
  expect(credentials(one, { [key]: '', [url]: '' }, {})).toBe('no_key')
  expect(credentials(one, { [key]: '\n' })).toBe('no_key')
  expect(credentials(one, { [url]: OWN[one] })).toBe('no_key')
  expect(credentials(one, {}, { base_url: `${OWN[one]}/else` })).toBe('no_key')
})

test('without a key, the error says where to set one', () => {
  const found = credentialsOf('anthropic', {}, {})
  expect(found).toMatchObject({
    error: {
      next_actions: [
        { action: 'Set ANTHROPIC_API_KEY to your API key.' },
        { command: 'hawser config set providers.anthropic.key -' },
        { command: 'hawser run --provider rehearsal "Hello"' },
      ],
    },
  })
})

test('only a compatible server at a custom URL may need no key', () => {
  const url = 'http://192.168.0.7:8080/v1'
  const none = { key: undefined, baseUrl: url }
  expect(credentials('openai-chat', { OPENAI_BASE_URL: url })).toEqual({
    ...none,
    from: 'environment',
  })
  expect(credentials('openai-chat', {}, { base_url: url })).toEqual({ ...none, from: 'settings' })
  for (const one of ['anthropic', 'openai'] as const) {
    expect(credentials(one, { [NAMES[one].url]: url })).toBe('no_key')
    expect(credentials(one, {}, { base_url: url })).toBe('no_key')
  }
})

test("the vendor's key does not replace a stored server", () => {
  const env = { OPENAI_API_KEY: ENV_KEY }
  const base_url = 'http://127.0.0.1:8080/v1'
  const there = { baseUrl: base_url, from: 'settings' }
  expect(credentials('openai-chat', env, { base_url })).toEqual({ key: undefined, ...there })
  expect(credentials('openai-chat', env, { base_url, key: KEY })).toEqual({ key: KEY, ...there })
})

test.each([
  ['nonsense'],
  ['ftp://example.com'],
  ['https://user:canary@example.com'],
  ['https://example.com?key=canary'],
  ['https://example.com/#canary'],
])('%s is refused as a URL for a key, and not repeated', (url) => {
  const key = { ANTHROPIC_API_KEY: ENV_KEY }
  expect(credentials('anthropic', { ...key, ANTHROPIC_BASE_URL: url })).toBe('bad_url')
  expect(credentials('openai-chat', { OPENAI_BASE_URL: url })).toBe('bad_url')
  expect(credentials('openai', {}, { key: KEY, base_url: url })).toBe('bad_url')
})

test('an invalid URL in the environment is reported before a missing stored key', () => {
  expect(credentials('openai', { OPENAI_BASE_URL: 'nonsense' })).toBe('bad_url')
})

test.each([
  [' sk-canary'],
  ['sk-canary '],
  ['sk canary'],
  ['sk\ncanary'],
  ['sk-canary-é'],
  ['\u0000'],
])('%j cannot be a key', (key) => {
  expect(credentials('anthropic', { ANTHROPIC_API_KEY: key })).toBe('bad_key')
  expect(credentials('anthropic', {}, { key })).toBe('bad_key')
})

test('a trailing newline is not part of a key or a URL', () => {
  const env = { OPENAI_API_KEY: `${ENV_KEY}\r\n`, OPENAI_BASE_URL: `${PROXY}/\n` }
  const found = { key: ENV_KEY, baseUrl: PROXY, from: 'environment' }
  expect(credentials('openai', env)).toEqual(found)
})

test('over plain http, a key is sent to this machine only', () => {
  const key = { OPENAI_API_KEY: ENV_KEY }
  for (const host of ['localhost:1', '127.0.0.1:8080', '[::1]:1']) {
    const baseUrl = `http://${host}/v1`
    expect(credentials('openai', { ...key, OPENAI_BASE_URL: baseUrl })).toMatchObject({ baseUrl })
  }
  for (const host of ['example.com', '192.168.0.1', 'localhost.example.com', '0.0.0.0']) {
    expect(credentials('openai', { ...key, OPENAI_BASE_URL: `http://${host}` })).toBe('open_way')
    const base_url = `http://${host}/v1`
    expect(credentials('openai-chat', {}, { key: KEY, base_url })).toBe('open_way')
  }
})

test('all keys that can be redacted are returned, the longest first', () => {
  const env = { ANTHROPIC_API_KEY: '12345678', OPENAI_API_KEY: '123456789\n', HOME: 'somewhere' }
  const settings = {
    providers: { anthropic: { key: '12345678' }, 'openai-chat': { key: '1234567' }, openai: {} },
  }
  expect(secretsOf(env, settings)).toEqual(['123456789', '12345678'])
  expect(secretsOf({}, {})).toEqual([])
  expect(unredactedKeys(env, settings)).toEqual(['providers.openai-chat.key'])
  expect(unredactedKeys({ OPENAI_API_KEY: 'short\n' }, {})).toEqual(['OPENAI_API_KEY'])
})
