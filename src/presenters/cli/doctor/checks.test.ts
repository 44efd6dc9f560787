import { expect, test } from 'vitest'
import { failed, ok, withCause } from '../../../model/errors.ts'
import type { PathFacts } from '../../../host/machine.ts'
import type { Settings } from '../../../model/settings.ts'
import { redactSecrets } from './bundle.ts'
import * as machine from './machine-checks.ts'
import * as place from './place-checks.ts'
import { providerCheck, shortKeyCheck } from './provider-check.ts'

type Env = Readonly<Record<string, string>>

const MACHINE = { node: '20.19.0', platform: 'linux', arch: 'x64', release: '6.1.0-13-amd64' }

test.each([
  ['18.20.0', 'problem'],
  ['20.18.9', 'problem'],
  ['20.19.0', 'ok'],
  ['20.20.1', 'ok'],
  ['22.0.0', 'ok'],
])('Node %s: %s', (node, status) => {
  expect(machine.nodeCheck({ ...MACHINE, node }).status).toBe(status)
})

test('an untested platform is a warning', () => {
  expect(machine.platformCheck(MACHINE)).toMatchObject({ status: 'ok', text: 'linux 6.1.0, x64' })
  expect(machine.platformCheck({ ...MACHINE, platform: 'win32' }).status).toBe('warning')
})

test('without a sandbox, the check lists what is not confined', () => {
  const absent = machine.sandboxCheck({ isConfined: false, why: 'bubblewrap is not installed' })
  expect(absent.status).toBe('warning')
  expect(absent.text).toContain('bubblewrap is not installed')
  expect(absent.text).toContain('your files, your keys, the network')
  expect(machine.sandboxCheck({ isConfined: true, by: 'bubblewrap 0.8.0' }).status).toBe('ok')
})

test.each([
  [
    'cgroup v2',
    true,
    'ok',
    'A command can use at most 4,096 processes and 1.5 GiB of memory (cgroup v2).',
  ],
  [
    'rlimits',
    true,
    'ok',
    'A command can use at most 4,096 processes (RLIMIT_NPROC) and 1.5 GiB of memory for each of its processes (RLIMIT_DATA).',
  ],
  [
    'rlimits',
    false,
    'warning',
    'A command can use at most 1.5 GiB of memory for each of its processes (RLIMIT_DATA), and any number of processes: RLIMIT_NPROC does not apply to root.',
  ],
] as const)('limits by %s, binding processes %s: %s', (by, bindsProcesses, status, text) => {
  const limits = { by, bindsProcesses, processes: 4_096, memoryBytes: 1.5 * 1024 ** 3 }
  const checks = machine.limitsCheck({ isConfined: true, by: 'bubblewrap 0.8.0', limits })
  expect(checks).toMatchObject([{ status, text }])
})

test('limits that nothing enforces are not named', () => {
  expect(machine.limitsCheck({ isConfined: false, why: 'no' })).toEqual([])
})

test('with a sandbox, the check lists what it prevents and what it does not, in this workspace too', () => {
  const guarantees = { holds: ['a'], does_not_hold: ['b'] }
  const check = machine.sandboxCheck({ isConfined: true, by: 'x', guarantees }, ['c'])
  expect(check).toMatchObject({ holds: ['a'], does_not_hold: ['b', 'c'] })
})

test('a missing program is a warning, and the path of a found one is not in the report', () => {
  expect(machine.programCheck('git', undefined, 'no commits').status).toBe('warning')
  const found = machine.programCheck('git', '/usr/bin/git', '')
  expect(found).toMatchObject({ status: 'ok', text: '/usr/bin/git', plain: 'installed' })
})

const TERMINAL = { stdin: true, stdout: true, stderr: true, columns: 80, rows: 24, colour: true }

test.each([
  [{ TERM: 'xterm', LANG: 'en_GB.UTF-8' }, 'ok'],
  [{ TERM: 'xterm', LC_ALL: 'C.utf8', LANG: 'C' }, 'ok'],
  [{ TERM: 'xterm', LANG: 'C' }, 'warning'],
  [{ TERM: 'xterm', LC_ALL: 'C', LANG: 'en_GB.UTF-8' }, 'warning'],
  [{ TERM: 'dumb', LANG: 'en_GB.UTF-8' }, 'warning'],
  [{ LANG: 'en_GB.UTF-8' }, 'warning'],
])('a terminal with %j: %s', (env, status) => {
  expect(machine.terminalCheck({ ...TERMINAL, env }).status).toBe(status)
  expect(machine.terminalCheck({ ...TERMINAL, stdin: false, env }).status).toBe('ok')
})

const FOLDER: PathFacts = {
  kind: 'folder',
  ours: true,
  mode: 0o700,
  writable: true,
  freeBytes: 2 ** 40,
}

test('the fuller of two disks decides', () => {
  const on = (freeBytes: number) => ({ path: '/x', facts: { ...FOLDER, freeBytes } })
  const status = (...free: number[]) => place.diskCheck(free.map(on))?.status
  expect(status(2 ** 40, 2 ** 40)).toBe('ok')
  expect(status(2 ** 40, 2 ** 29)).toBe('warning')
  expect(status(2 ** 20, 2 ** 40)).toBe('problem')
  expect(place.diskCheck([{ path: '/x', facts: { kind: 'missing' } }])).toBeUndefined()
})

test('a path is shown to the person and not in the report', () => {
  const workspace = place.workspaceCheck({ path: '/secret/\u001b[2J', facts: FOLDER })
  expect(workspace.text).toBe('/secret/\\u{1b}[2J, writable')
  expect(workspace.plain).toBe('writable')
  const closed = { path: '/secret', facts: { ...FOLDER, writable: false } }
  expect(place.workspaceCheck(closed)).toMatchObject({ status: 'problem' })
  expect(place.workspaceCheck(closed).plain).not.toContain('secret')
  const unreadable: PathFacts = { kind: 'unreadable', code: 'EACCES' }
  expect(place.workspaceCheck({ path: '/secret', facts: unreadable }).plain).toContain('EACCES')
  const refused = withCause(failed('permission_denied', 'Could not open /secret.'), {
    type: 'system',
    code: 'NOT_OURS',
  })
  const home = place.homeCheck({ path: '/secret', facts: FOLDER }, refused)
  expect(home).toMatchObject({ status: 'problem', text: 'Could not open /secret.' })
  expect(home.plain).toBe('Not usable: permission_denied, NOT_OURS.')
})

test('a home that others could read is reported as closed now', () => {
  const open = { path: '/x', facts: { ...FOLDER, mode: 0o755 } }
  expect(place.homeCheck(open, ok(undefined)).text).toContain('0755')
  expect(place.homeCheck({ ...open, facts: { kind: 'missing' } }, ok(undefined)).status).toBe('ok')
})

test('locks that do not work are a problem', () => {
  expect(place.locksCheck(ok(true)).status).toBe('ok')
  expect(place.locksCheck(ok(false)).status).toBe('problem')
  const refused = withCause(failed('storage_failed', 'No.'), { type: 'system', code: 'NO_LOCKS' })
  const check = place.locksCheck(refused)
  expect([check.status, check.text.includes('NO_LOCKS')]).toEqual(['problem', true])
})

const KEY = 'sk-canary-0001'

test.each<[string, Env, Settings, 'ok' | 'warning' | 'problem', string]>([
  ['nothing at all', {}, {}, 'ok', 'offline demo model, because no provider is chosen'],
  ['a key', { OPENAI_API_KEY: KEY }, {}, 'ok', 'openai, because OPENAI_API_KEY is set'],
  ['a stored key', {}, { providers: { anthropic: { key: KEY } } }, 'ok', 'use anthropic, because'],
  ['a name', { HAWSER_PROVIDER: 'rehearsal' }, {}, 'ok', 'because HAWSER_PROVIDER is set'],
  ['no key', { HAWSER_PROVIDER: 'openai' }, {}, 'problem', 'No API key for openai.'],
  ['no key', {}, { provider: 'anthropic' }, 'problem', 'No API key for anthropic.'],
  [
    'a place that does not count',
    { OPENAI_API_KEY: KEY },
    { providers: { openai: { base_url: 'https://canary.example.com' } } },
    'warning',
    'providers.openai.base_url is ignored',
  ],
])('with %s: %j %j', (_, env, settings, status, words) => {
  const check = providerCheck(env, settings)
  expect(check.status).toBe(status)
  expect(check.text).toContain(words)
  expect(check.plain).toContain(words)
  expect(JSON.stringify(check)).not.toContain('canary')
})

test('a custom provider or URL is not in the report', () => {
  const unknown = providerCheck({}, { provider: 'mine\u001b[2J' })
  expect(unknown.status).toBe('problem')
  expect(unknown.text).toContain('mine\\u{1b}[2J')
  expect(unknown.plain).not.toContain('mine')
  const base_url = 'http://127.0.0.1:8080/v1'
  const server = providerCheck({}, { providers: { 'openai-chat': { base_url } } })
  expect(server.text).toContain(`${base_url}, without a key`)
  expect(server.plain).toContain('a custom URL, without a key')
  expect(server.plain).not.toContain('127')
})

test('untrusted settings are in the report without model names', () => {
  const workspaceSettings = { settings: { models: { mine: { images: true } } }, sha256: '' }
  const check = place.settingsCheck(
    ok({ userFile: undefined, workspaceFile: workspaceSettings, isTrusted: false }),
  )
  expect(check.text).toContain('models.mine.images')
  expect(check.plain).toContain('models.<id>.images')
})

test('private text is replaced, the longest first', () => {
  const secrets = [
    { text: '/home/x', instead: '~' },
    { text: '/home/x/work', instead: '<workspace>' },
    { text: 'ab', instead: 'never' },
  ]
  expect(redactSecrets('/home/x/work/ab /home/x/ab', secrets)).toBe('<workspace>/ab ~/ab')
})

test('a key too short for redaction is reported by name, not by value', () => {
  const check = shortKeyCheck({ OPENAI_API_KEY: 'tooshrt' }, {})
  expect([check?.status, check?.text.includes('OPENAI_API_KEY')]).toEqual(['warning', true])
  expect(check?.text).not.toContain('tooshrt')
  expect(shortKeyCheck({ OPENAI_API_KEY: 'just-long' }, {})).toBeUndefined()
})
