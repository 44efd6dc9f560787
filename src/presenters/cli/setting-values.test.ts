import { expect, test } from 'vitest'
import { allSettings } from '../../model/settings.ts'
import { allowedIn, settingNamed, settingValue } from './setting-values.ts'

function setting(key: string) {
  const found = settingNamed(key)
  if (!found.ok) throw new Error(found.error.message)
  return found.value
}

test.each([
  ['permission', 'auto', 'auto'],
  ['display.bell', 'false', false],
  ['limits.provider_calls', '12', 12],
  ['limits.waiting_turns', '0', 0],
  ['model', '12', '12'],
  ['model', 'true', 'true'],
])('%s takes %s', (key, typed, value) => {
  expect(settingValue(setting(key), typed)).toEqual({ ok: true, value })
})

test.each([
  ['permission', 'Auto'],
  ['permission', ''],
  ['display.bell', 'yes'],
  ['limits.provider_calls', '0'],
  ['limits.provider_calls', '1.5'],
  ['limits.provider_calls', '1e3'],
  ['limits.provider_calls', '99999999999999999999'],
  ['limits.provider_calls', 'Infinity'],
  ['model', ''],
])('%s does not take "%s"', (key, typed) => {
  expect(settingValue(setting(key), typed)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { key, allowed: allowedIn(setting(key)) } },
  })
})

test('every setting says what it takes', () => {
  expect(allSettings().map((one) => [one.key, allowedIn(one)])).toEqual([
    ['provider', 'text'],
    ['model', 'text'],
    ['permission', 'read-only, ask or auto'],
    ['display.colour', 'auto, always or never'],
    ['display.bell', 'true or false'],
    ['limits.provider_calls', 'a whole number from 1 to 10000'],
    ['limits.waiting_turns', 'a whole number from 0 to 1000'],
    ['limits.command_seconds', 'a whole number from 1 to 600'],
  ])
})

test.each([
  ['permision', 'permission'],
  ['limits.provider-calls', 'limits.provider_calls'],
  ['provider_calls', 'limits.provider_calls'],
  ['color', 'display.colour'],
  ['modell', 'model'],
])('%s is answered with %s', (typed, meant) => {
  expect(settingNamed(typed)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', next_actions: [{ command: `hawser config get ${meant}` }] },
  })
})

test.each([['xyzzy'], ['__proto__'], ['constructor'], [''], ['../../x'], ['limits'], ['-rf']])(
  '"%s" is no setting, and near to none',
  (typed) => {
    expect(settingNamed(typed)).toMatchObject({
      ok: false,
      error: { kind: 'invalid_args', next_actions: [{ command: 'hawser config get' }] },
    })
  },
)

test('what was typed comes back short and visible', () => {
  const long = settingNamed(`\x1b[2J${'x'.repeat(10_000)}`)
  expect(long).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  const message = long.ok ? '' : long.error.message
  expect(message.length).toBeLessThan(200)
  expect(message).not.toContain('\x1b')
})
