import { expect, test } from 'vitest'
import type { Settings } from '../model/settings.ts'
import { sourcedSettings, withSetting, type AllStoredSettings } from './stored-settings.ts'

function shown(stored: AllStoredSettings, ...keys: readonly string[]) {
  return sourcedSettings(stored)
    .filter(({ setting }) => keys.includes(setting.key))
    .map(({ setting, ...rest }) => ({ key: setting.key, ...rest }))
}

const as = (settings: Settings) => ({ settings, sha256: '' })

test('what nobody set has its default, where there is one', () => {
  const nothing = { own: undefined, here: undefined, trusted: false }
  expect(shown(nothing, 'permission', 'model')).toEqual([
    { key: 'model', source: 'default' },
    { key: 'permission', source: 'default', value: 'ask' },
  ])
})

test('a workspace that nobody trusts sets models, display and limits, and nothing else', () => {
  const own = as({ permission: 'ask', limits: { provider_calls: 7 } })
  const here = as({
    permission: 'auto',
    provider: 'x',
    model: 'm',
    limits: { provider_calls: 9, waiting_turns: 1 },
  })
  const keys = ['permission', 'provider', 'model', 'limits.provider_calls', 'limits.waiting_turns']
  expect(shown({ own, here, trusted: false }, ...keys)).toEqual([
    { key: 'provider', source: 'default', untrusted: 'x' },
    { key: 'model', source: 'workspace', value: 'm' },
    { key: 'permission', source: 'user', value: 'ask', untrusted: 'auto' },
    { key: 'limits.provider_calls', source: 'workspace', value: 9 },
    { key: 'limits.waiting_turns', source: 'workspace', value: 1 },
  ])
  expect(shown({ own, here, trusted: true }, 'permission', 'provider')).toEqual([
    { key: 'provider', source: 'workspace', value: 'x' },
    { key: 'permission', source: 'workspace', value: 'auto' },
  ])
})

test('a setting is changed and forgotten beside others, and an empty group goes with its last', () => {
  const one = withSetting({ model: 'm' }, 'limits.provider_calls', 3)
  expect(one).toEqual({ model: 'm', limits: { provider_calls: 3 } })
  const two = withSetting(one, 'permission', 'auto')
  expect(two).toEqual({ model: 'm', permission: 'auto', limits: { provider_calls: 3 } })
  expect(JSON.stringify(withSetting(two, 'limits.provider_calls', undefined))).toBe(
    '{"model":"m","permission":"auto"}',
  )
})
