import { expect, test } from 'vitest'
import { settingAt, type Setting, type Settings } from '../../model/settings.ts'
import { effectiveSettings } from './effective-settings.ts'
import {
  SET,
  sourcedSetting,
  sourcedSettings,
  withSetting,
  type AllStoredSettings,
} from './stored-settings.ts'

function shown(stored: AllStoredSettings, ...keys: readonly string[]) {
  return sourcedSettings(stored)
    .filter(({ setting }) => keys.includes(setting.key))
    .map(({ setting, ...rest }) => ({ key: setting.key, ...rest }))
}

const as = (settings: Settings) => ({ settings, sha256: '' })

test('an unset setting has its default, if there is one', () => {
  const nothing = { userFile: undefined, workspaceFile: undefined, isTrusted: false }
  expect(shown(nothing, 'permission', 'model')).toEqual([
    { key: 'model', source: 'default' },
    { key: 'permission', source: 'default', value: 'ask' },
  ])
})

test('an untrusted workspace sets only models, display and limits', () => {
  const userFile = as({ permission: 'ask', limits: { provider_calls: 7 } })
  const workspaceFile = as({
    permission: 'auto',
    provider: 'x',
    model: 'm',
    limits: { provider_calls: 9, waiting_turns: 1 },
  })
  const keys = ['permission', 'provider', 'model', 'limits.provider_calls', 'limits.waiting_turns']
  expect(shown({ userFile, workspaceFile, isTrusted: false }, ...keys)).toEqual([
    { key: 'provider', source: 'default', untrusted: 'x' },
    { key: 'model', source: 'workspace', value: 'm' },
    { key: 'permission', source: 'user', value: 'ask', untrusted: 'auto' },
    { key: 'limits.provider_calls', source: 'workspace', value: 9 },
    { key: 'limits.waiting_turns', source: 'workspace', value: 1 },
  ])
  expect(shown({ userFile, workspaceFile, isTrusted: true }, 'permission', 'provider')).toEqual([
    { key: 'provider', source: 'workspace', value: 'x' },
    { key: 'permission', source: 'workspace', value: 'auto' },
  ])
})

function named(key: string): Setting {
  const found = settingAt(key)
  if (found === undefined) throw new Error(`there is no setting ${key}`)
  return found
}

test('a setting is changed and reset beside others, and an empty group is removed with its last field', () => {
  const one = withSetting({ model: 'm' }, named('limits.provider_calls'), 3)
  expect(one).toEqual({ model: 'm', limits: { provider_calls: 3 } })
  const two = withSetting(one, named('permission'), 'auto')
  expect(two).toEqual({ model: 'm', permission: 'auto', limits: { provider_calls: 3 } })
  expect(JSON.stringify(withSetting(two, named('limits.provider_calls'), undefined))).toBe(
    '{"model":"m","permission":"auto"}',
  )
})

test('a fact about a model is set by its id, whatever characters it contains', () => {
  const window = named('models.gpt-5.5.window_tokens')
  const one = withSetting({}, window, 1000)
  expect(one).toEqual({ models: { 'gpt-5.5': { window_tokens: 1000 } } })
  const two = withSetting(one, named('models.a/b:c.prices.input'), 1.5)
  expect(two).toEqual({
    models: { 'gpt-5.5': { window_tokens: 1000 }, 'a/b:c': { prices: { input: 1.5 } } },
  })
  const known = { userFile: as(two), workspaceFile: undefined, isTrusted: false }
  const facts = sourcedSettings(known).filter(({ setting: { path } }) => path[0] === 'models')
  expect(facts.map(({ setting: { key }, value, source }) => [key, value, source])).toEqual([
    ['models.gpt-5.5.window_tokens', 1000, 'user'],
    ['models.a/b:c.prices.input', 1.5, 'user'],
  ])
  const unset = sourcedSetting(known, named('models.other.images'))
  expect(unset).toMatchObject({ source: 'default' })
  expect(unset.value).toBeUndefined()
  const none = withSetting(
    withSetting(two, window, undefined),
    named('models.a/b:c.prices.input'),
    undefined,
  )
  expect(none).toEqual({})
})

const CANARY = 'sk-canary-0001'

test('a secret is not shown, wherever it is set and whether or not it applies', () => {
  const file = as({ providers: { openai: { key: CANARY, base_url: 'https://example.com' } } })
  const [key, url] = ['providers.openai.key', 'providers.openai.base_url']
  const shownUrl = { key: url, value: 'https://example.com' }
  expect(shown({ userFile: file, workspaceFile: undefined, isTrusted: false }, key, url)).toEqual([
    { key, value: SET, source: 'user' },
    { ...shownUrl, source: 'user' },
  ])
  expect(shown({ userFile: undefined, workspaceFile: file, isTrusted: true }, key, url)).toEqual([
    { key, value: SET, source: 'workspace' },
    { ...shownUrl, source: 'workspace' },
  ])
  const waiting = shown({ userFile: undefined, workspaceFile: file, isTrusted: false }, key)
  expect(waiting).toEqual([{ key, source: 'default', untrusted: SET }])
})

test('if a trusted workspace sets a URL, no key of the user applies to it', () => {
  const userFile = as({ providers: { openai: { key: CANARY }, anthropic: { key: CANARY } } })
  const workspaceFile = as({ providers: { openai: { base_url: 'https://example.com' } } })
  const keys = ['providers.anthropic.key', 'providers.openai.key', 'providers.openai.base_url']
  expect(shown({ userFile, workspaceFile, isTrusted: true }, ...keys)).toEqual([
    { key: 'providers.anthropic.key', value: SET, source: 'user' },
    { key: 'providers.openai.key', source: 'default' },
    { key: 'providers.openai.base_url', value: 'https://example.com', source: 'workspace' },
  ])
  expect(shown({ userFile, workspaceFile, isTrusted: false }, 'providers.openai.key')).toEqual([
    { key: 'providers.openai.key', value: SET, source: 'user' },
  ])
  expect(
    effectiveSettings({ userFile, workspaceFile, isTrusted: true }).settings.providers,
  ).toEqual({
    anthropic: { key: CANARY },
    openai: { base_url: 'https://example.com' },
  })
  expect(effectiveSettings({ userFile, workspaceFile, isTrusted: false })).toEqual({
    settings: userFile.settings,
    ignoredKeys: ['providers'],
  })
})

test('the effective settings are those that are shown as effective', () => {
  const userFile = as({
    model: 'm',
    effort: 'low',
    display: { bell: false },
    models: { a: { window_tokens: 1, prices: { input: 1, output: 1 } } },
  })
  const workspaceFile = as({
    effort: 'high',
    display: { colour: 'never' },
    limits: { retries: 0 },
    models: { a: { prices: { input: 2 } }, b: { images: true } },
  })
  for (const isTrusted of [true, false]) {
    const { settings } = effectiveSettings({ userFile, workspaceFile, isTrusted })
    const whole = { userFile: as(settings), workspaceFile: undefined, isTrusted: false }
    const values = (stored: AllStoredSettings) =>
      sourcedSettings(stored).flatMap(({ setting: { key }, value, source }) =>
        source === 'default' ? [] : [[key, value]],
      )
    expect(values(whole)).toEqual(values({ userFile, workspaceFile, isTrusted }))
  }
})
