import { expect, test } from 'vitest'
import { allSettings, modelSettings } from '../../../model/settings.ts'
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
  ['effort', 'xhigh', 'xhigh'],
  ['limits.retries', '0', 0],
  ['limits.idle_seconds', '3600', 3600],
  ['providers.anthropic.key', 'sk-1', 'sk-1'],
  ['providers.openai.key', '12345678\n', '12345678'],
  ['providers.openai-chat.base_url', 'http://[::1]:8080/v1', 'http://[::1]:8080/v1'],
  ['models.gpt-5.5.window_tokens', '400000', 400_000],
  ['models.a/b:c@d.prices.input', '0.25', 0.25],
  ['models.x.late_role', 'system', 'system'],
  ['sandbox.readable', '/srv/data,~/notes', ['/srv/data', '~/notes']],
  ['models.window_tokens.window_tokens.images', 'true', true],
])('%s accepts %s', (key, typed, value) => {
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
  ['effort', 'most'],
  ['limits.retries', '11'],
  ['providers.anthropic.key', ''],
  ['providers.anthropic.key', 'sk 1'],
  ['providers.anthropic.key', 'sk-é'],
  ['providers.openai.base_url', 'example.com'],
  ['providers.openai.base_url', 'https://user:password@example.com'],
  ['models.gpt-5.5.window_tokens', '0'],
  ['sandbox.readable', '/'],
  ['sandbox.readable', '~'],
  ['sandbox.readable', 'notes'],
  ['sandbox.readable', '/srv/../root'],
  ['sandbox.readable', '/srv,notes'],
  ['models.gpt-5.5.prices.input', '-1'],
])('%s refuses "%s"', (key, typed) => {
  expect(settingValue(setting(key), typed)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', details: { key, allowed: allowedIn(setting(key)) } },
  })
})

test('every setting describes its accepted values', () => {
  expect(allSettings().map((one) => [one.key, allowedIn(one)])).toEqual([
    ['provider', 'text'],
    ['model', 'text'],
    ['effort', 'none, minimal, low, medium, high, xhigh or max'],
    ['permission', 'read-only, ask or auto'],
    ['engine', 'files'],
    ...['anthropic', 'openai', 'openai-chat'].flatMap((name) => [
      [`providers.${name}.key`, 'an API key: letters, digits and symbols, no spaces'],
      [`providers.${name}.base_url`, 'an http or https URL without user, query or fragment'],
      ...(name === 'openai' ? [['providers.openai.transport', 'auto, websocket or http-sse']] : []),
    ]),
    ...['', '_image', '_pdf', '_text'].map((kind) => [
      `resources.upload${kind}`,
      'allow, ask or deny',
    ]),
    ['resources.upload_ask_over', 'a whole number, at least 0'],
    ['resources.upload_deny_over', 'a whole number, at least 0'],
    ['resources.replay', 'attach-turn, window or cost-aware'],
    ['instructions', 'name or load'],
    ['compaction.summary', 'excerpts or model'],
    ['compaction.policy', 'manual or auto'],
    ['pressure.advisory_percent', 'a whole number from 1 to 100'],
    ['pressure.warning_percent', 'a whole number from 1 to 100'],
    ['pressure.critical_percent', 'a whole number from 1 to 100'],
    ['sandbox.readable', 'a comma-separated list of paths, absolute or below ~/'],
    ['instances.roots', 'a comma-separated list of paths, absolute or below ~/'],
    ['telegram.token', 'an API key: letters, digits and symbols, no spaces'],
    ['telegram.api_root', 'an http or https URL without user, query or fragment'],
    ['telegram.drafts', 'true or false'],
    ['display.colour', 'auto, always or never'],
    ['display.theme', 'auto, dark, light, high-contrast or none'],
    ['display.pictures', 'auto or never'],
    ['display.bell', 'true or false'],
    ['display.notify', 'true or false'],
    ['display.title', 'true or false'],
    ['input.keys', 'usual or vim'],
    ['input.history', 'true or false'],
    ['limits.provider_calls', 'a whole number from 1 to 10000'],
    ['limits.waiting_turns', 'a whole number from 0 to 1000'],
    ['limits.question_seconds', 'a whole number from 0 to 86400'],
    ['limits.command_seconds', 'a whole number from 1 to 600'],
    ['limits.command_processes', 'a whole number from 16 to 32768'],
    ['limits.command_memory_percent', 'a whole number from 1 to 90'],
    ['limits.idle_seconds', 'a whole number from 1 to 3600'],
    ['limits.retries', 'a whole number from 0 to 10'],
  ])
  const facts = new Map(modelSettings('m').map((one) => [one.key, allowedIn(one)]))
  expect(facts.get('models.m.window_tokens')).toBe('a whole number greater than 0')
  expect(facts.get('models.m.prices.cached_read')).toBe('a number, at least 0')
  expect(facts.get('models.m.images')).toBe('true or false')
})

test.each([
  ['providers.openai.key', 'sk canary'],
  ['providers.openai.base_url', 'https://user:canary@example.com'],
])('an invalid value of %s is not repeated', (key, typed) => {
  expect(JSON.stringify(settingValue(setting(key), typed))).not.toContain('canary')
})

test.each([
  ['permision', 'permission'],
  ['limits.provider-calls', 'limits.provider_calls'],
  ['provider_calls', 'limits.provider_calls'],
  ['color', 'display.colour'],
  ['modell', 'model'],
])('%s gets the suggestion %s', (typed, meant) => {
  expect(settingNamed(typed)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', next_actions: [{ command: `hawser config get ${meant}` }] },
  })
})

test.each([
  ['xyzzy'],
  ['__proto__'],
  ['constructor'],
  [''],
  ['../../x'],
  ['limits'],
  ['-rf'],
  ['models'],
  ['models.gpt-5.5'],
  ['models.gpt-5.5.window'],
  ['models..images'],
  ['models.images'],
  ['models.__proto__.images'],
  ['models.a b.images'],
  ['models.<id>.images'],
  ['providers.openai'],
  ['window_tokens'],
])('"%s" is not a setting and gets no suggestion', (typed) => {
  expect(settingNamed(typed)).toMatchObject({
    ok: false,
    error: { kind: 'invalid_args', next_actions: [{ command: 'hawser config get' }] },
  })
})

test('typed text is repeated shortened and escaped', () => {
  const long = settingNamed(`\x1b[2J${'x'.repeat(10_000)}`)
  expect(long).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  const message = long.ok ? '' : long.error.message
  expect(message.length).toBeLessThan(200)
  expect(message).not.toContain('\x1b')
})

test('a setting with one known value names it, and refuses any other', () => {
  expect(allowedIn(setting('engine'))).toBe('files')
  expect(settingValue(setting('engine'), 'nats')).toMatchObject({
    error: { kind: 'invalid_args', message: 'engine must be files, not "nats".' },
  })
})
