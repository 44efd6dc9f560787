import { expect, test } from 'vitest'
import { programEnv } from './env.ts'

const HOME = { home: '/tmp/home', temporary: '/tmp' }

test('a program gets a short list of variables and nothing that could be a key', () => {
  const ours = {
    PATH: '/usr/bin:/bin',
    LANG: 'de_DE.UTF-8',
    TZ: 'Europe/Berlin',
    HOME: '/home/me',
    ANTHROPIC_API_KEY: 'key',
    SSH_AUTH_SOCK: '/run/agent',
    LD_PRELOAD: '/evil.so',
    NODE_OPTIONS: '--require /evil.js',
    BASH_ENV: '/evil.sh',
    GIT_SSH_COMMAND: 'evil',
  }
  expect(programEnv(ours, HOME)).toEqual({
    PATH: '/usr/bin:/bin',
    HOME: '/tmp/home',
    TMPDIR: '/tmp',
    TERM: 'dumb',
    LANG: 'de_DE.UTF-8',
    TZ: 'Europe/Berlin',
  })
})

test('relative PATH folders are left out', () => {
  const pathOf = (PATH: string | undefined) => programEnv({ PATH }, HOME)['PATH']
  expect(pathOf('.:/usr/bin::node_modules/.bin:/bin')).toBe('/usr/bin:/bin')
  expect([pathOf(undefined), pathOf(''), pathOf('.')]).toEqual(
    Array.from({ length: 3 }, () => '/usr/local/bin:/usr/bin:/bin'),
  )
})

test('variables of the command take precedence', () => {
  const variables = { CARGO_HOME: '/c', A: '0' }
  const env = programEnv({ LANG: 'C' }, { ...HOME, variables }, { LANG: 'x', A: '1' })
  expect(env).toMatchObject({ LANG: 'x', A: '1', CARGO_HOME: '/c' })
})
