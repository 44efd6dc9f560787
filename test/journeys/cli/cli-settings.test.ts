import { chmod, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, test } from 'vitest'
import { SessionId } from '../../../src/model/ids.ts'
import { Output as Got } from '../../../src/presenters/cli/commands/settings/config-get.ts'
import { Output as Set } from '../../../src/presenters/cli/commands/settings/config-set.ts'
import { Output as Trusted } from '../../../src/presenters/cli/commands/settings/trust.ts'
import { bundleScript } from '../../support/host/bundle-script.ts'
import { failureOf, UNSAFE_CHARACTER } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { openPty } from '../../support/cli/pty.ts'
import { commandPlace, writeForeignLog } from '../../support/session/write-log.ts'

async function setting(root: string, key: string) {
  const { code, stdout } = await runCli({ root }, 'config', 'get', key, '--json')
  expect(code).toBe(0)
  const { value, source, untrusted } = Got.parse(JSON.parse(stdout)).settings[0] ?? {}
  return { value, source, ...(untrusted === undefined ? {} : { untrusted }) }
}

async function set(root: string, ...argv: readonly string[]) {
  const { code, stdout } = await runCli({ root }, 'config', 'set', ...argv, '--json')
  expect(code).toBe(0)
  const { ok: _ok, ...rest } = Set.parse(JSON.parse(stdout))
  return rest
}

/** Settings as if they had come with the workspace. */
async function writeSettings(workspace: string, content: string): Promise<string> {
  await mkdir(join(workspace, '.hawser'), { mode: 0o700, recursive: true })
  const path = join(workspace, '.hawser', 'config.json')
  await writeFile(path, content)
  return path
}

test('a setting is set, shown and forgotten, for the user', async () => {
  const { root, workspace } = await commandPlace()
  expect(await setting(root, 'permission')).toEqual({ value: 'ask', source: 'default' })
  const expected = { key: 'permission', value: 'auto', where: 'user', counts: true }
  expect(await set(root, 'permission', 'auto')).toEqual(expected)
  expect(await set(root, 'limits.provider_calls', '7')).toMatchObject({ value: 7 })
  expect(await setting(root, 'permission')).toEqual({ value: 'auto', source: 'user' })
  expect((await stat(join(root, 'home', 'config.json'))).mode & 0o777).toBe(0o600)
  const alone = await runCli({ root }, 'config', 'get', 'limits.provider_calls')
  expect(alone.stdout).toBe('7\n')
  expect(await set(root, 'limits.provider_calls')).toEqual({
    key: 'limits.provider_calls',
    where: 'user',
    counts: true,
  })
  expect(await readFile(join(root, 'home', 'config.json'), 'utf8')).toBe(
    '{\n  "permission": "auto"\n}\n',
  )
  // Nothing was created in an unused workspace.
  await expect(stat(join(workspace, '.hawser'))).rejects.toThrow('ENOENT')
})

test('a workspace setting overrides that of the user, and is trusted with its author', async () => {
  const { root } = await commandPlace()
  await set(root, 'permission', 'read-only')
  const expected = { key: 'permission', value: 'auto', where: 'workspace', counts: true }
  expect(await set(root, 'permission', 'auto', '--here')).toEqual(expected)
  expect(await setting(root, 'permission')).toEqual({ value: 'auto', source: 'workspace' })
  await set(root, 'permission', '--here')
  expect(await setting(root, 'permission')).toEqual({ value: 'read-only', source: 'user' })
})

test('settings that came with a workspace apply after a person trusts them, and only unchanged', async () => {
  const { root, workspace } = await commandPlace()
  await runCli({ root }, 'run', 'Hello')
  const path = await writeSettings(workspace, '{"permission":"auto","model":"m"}')
  const waiting = { value: 'ask', source: 'default', untrusted: 'auto' }
  expect(await setting(root, 'permission')).toEqual(waiting)
  expect(await setting(root, 'model')).toEqual({ value: 'm', source: 'workspace' })
  const run = await runCli({ root }, 'sessions')
  expect(run.stderr).toContain('permission')

  const refused = await runCli({ root }, 'trust', '--json')
  expect([refused.code, failureOf(refused).kind]).toEqual([2, 'invalid_args'])
  expect(refused.stderr).toContain('permission = auto')
  expect(await setting(root, 'permission')).toEqual(waiting)

  const ran = await runCli({ root }, 'trust', '--yes', '--json')
  expect(Trusted.parse(JSON.parse(ran.stdout))).toMatchObject({
    what: 'settings',
    changed: true,
    settings: { permission: 'auto' },
  })
  expect(await setting(root, 'permission')).toEqual({ value: 'auto', source: 'workspace' })
  expect((await runCli({ root }, 'sessions')).stderr).toBe('')
  const again = await runCli({ root }, 'trust', '--json')
  expect(JSON.parse(again.stdout)).toEqual({ ok: true, what: 'settings', changed: false })

  await writeFile(path, '{"permission":"auto","model":"other"}')
  expect(await setting(root, 'permission')).toEqual(waiting)
})

test('a setting of a person beside untrusted ones does not make those trusted', async () => {
  const { root, workspace } = await commandPlace()
  await runCli({ root }, 'run', 'Hello')
  await writeSettings(workspace, '{"provider":"elsewhere"}')
  expect(await set(root, 'permission', 'auto', '--here')).toMatchObject({ counts: false })
  expect(await set(root, 'limits.provider_calls', '3', '--here')).toMatchObject({ counts: true })
  expect(await setting(root, 'provider')).toMatchObject({ source: 'default' })
  expect(await setting(root, 'permission')).toMatchObject({ value: 'ask', untrusted: 'auto' })
})

test('in a workspace that this home did not create, no setting applies without trust', async () => {
  const { root, workspace } = await commandPlace()
  await writeSettings(workspace, '{"model":"m","limits":{"retries":1}}')
  for (const key of ['model', 'limits.retries'])
    expect(await setting(root, key)).toMatchObject({ source: 'default' })
  // Opening it makes it a workspace of this home, and its settings still wait.
  const run = await runCli({ root }, 'run', 'Hello')
  expect(run.stderr).toContain('was not created by this Hawser home')
  expect(await setting(root, 'model')).toMatchObject({ source: 'default', untrusted: 'm' })
  expect((await runCli({ root }, 'trust', '--yes')).code).toBe(0)
  expect(await setting(root, 'model')).toEqual({ value: 'm', source: 'workspace' })
})

test('an unknown key and an invalid value are refused, and nothing is written', async () => {
  const { root } = await commandPlace()
  for (const argv of [
    ['get', 'permision'],
    ['get', '__proto__'],
    ['set', 'permision', 'auto'],
    ['set', 'limits', '{}'],
    ['set', '../../x', '1'],
    ['set', 'permission', 'everything'],
    ['set', 'limits.provider_calls', '0'],
    ['set', 'limits.provider_calls', 'NaN'],
    ['set', 'display.bell', ''],
    ['set', 'model', ''],
    ['set', '-rf'],
  ]) {
    const ran = await runCli({ root }, 'config', ...argv, '--json')
    expect([argv, ran.code, failureOf(ran).kind]).toEqual([argv, 2, 'invalid_args'])
  }
  await expect(stat(join(root, 'home', 'config.json'))).rejects.toThrow('ENOENT')
})

test.each([
  ['no JSON', '{', undefined],
  ['an unknown key', '{"colour":1,"limits":{"x":2}}', ['limits.x', 'colour']],
  ['a value that does not fit', '{"permission":"root"}', undefined],
  ['another kind of value', 'null', undefined],
])('settings that contain %s are refused wherever they apply', async (_, content, unknown) => {
  const { root, workspace } = await commandPlace()
  const path = await writeSettings(workspace, content)
  for (const argv of [
    ['config', 'get'],
    ['trust'],
    ['sessions'],
    ['config', 'set', 'model', 'm', '--here'],
  ]) {
    const ran = await runCli({ root }, ...argv, '--json')
    const failure = failureOf(ran)
    expect([argv, ran.code, failure.kind]).toEqual([argv, 2, 'invalid_args'])
    if (unknown !== undefined) expect(failure.details['unknown']).toEqual(unknown)
  }
  expect(await readFile(path, 'utf8')).toBe(content)
  // The user's own settings still work.
  expect(await set(root, 'model', 'm')).toMatchObject({ where: 'user' })
})

test.skipIf(process.getuid?.() === 0)(
  'a workspace that is not writable accepts no settings',
  async () => {
    const { root, workspace } = await commandPlace()
    await chmod(workspace, 0o500)
    const ran = await runCli({ root }, 'config', 'set', 'model', 'm', '--here', '--json')
    expect([ran.code, failureOf(ran).kind]).toEqual([1, 'permission_denied'])
    await chmod(workspace, 0o700)
  },
)

test('a missing workspace has no settings to show, and is not created', async () => {
  const { root } = await commandPlace()
  const nowhere = ['--workspace', join(root, 'nowhere'), '--json']
  for (const argv of [['config', 'get'], ['config', 'set', 'model', 'm', '--here'], ['trust']]) {
    const ran = await runCli({ root }, ...argv, ...nowhere)
    expect([ran.code, failureOf(ran).kind]).toEqual([1, 'not_found'])
  }
  await expect(stat(join(root, 'nowhere'))).rejects.toThrow('ENOENT')
})

const CANARY = 'sk-canary-4711'

test('a key is passed on standard input, stored for its owner only, and never shown', async () => {
  const { root } = await commandPlace()
  const key = 'providers.anthropic.key'
  const place = { root, stdin: `${CANARY}\n` }
  const stored = await runCli(place, 'config', 'set', key, '-', '--json')
  expect(JSON.parse(stored.stdout)).toEqual({
    ok: true,
    key,
    value: '[set]',
    where: 'user',
    counts: true,
  })
  expect(stored.stderr).toBe('')
  const path = join(root, 'home', 'config.json')
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    providers: { anthropic: { key: CANARY } },
  })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await setting(root, key)).toEqual({ value: '[set]', source: 'user' })
  for (const argv of [['get'], ['get', '--json'], ['get', key], ['set', 'model', 'm']]) {
    const ran = await runCli({ root }, 'config', ...argv)
    expect([argv, ran.code]).toEqual([argv, 0])
    expect(ran.stdout + ran.stderr).not.toContain('canary')
  }
  expect(await set(root, key)).toEqual({ key, where: 'user', counts: true })
  expect(await readFile(path, 'utf8')).toBe('{\n  "model": "m"\n}\n')
})

test('a key on the command line is accepted with a warning about the shell history', async () => {
  const { root } = await commandPlace()
  const key = 'providers.openai.key'
  const typed = await runCli({ root }, 'config', 'set', key, CANARY)
  expect([typed.code, typed.stdout]).toEqual([0, `Set ${key} to [set] for your user.\n`])
  expect(typed.stderr).toContain(`hawser config set ${key} -`)
  const ran = await runCli({ root, stdin: CANARY }, 'config', 'set', key, '-', '--here')
  expect(ran.stderr).toContain('.hawser/config.json')
  expect(typed.stderr + ran.stdout + ran.stderr).not.toContain('canary')
  expect(await setting(root, key)).toEqual({ value: '[set]', source: 'workspace' })
})

test.each([
  ['nothing', '', 'invalid_args'],
  ['a line end alone', '\n', 'invalid_args'],
  ['two lines', 'sk-canary\nsk-canary\n', 'invalid_args'],
  ['spaces', ' sk-canary', 'invalid_args'],
  ['no ASCII', 'sk-canary-é', 'invalid_args'],
  ['bytes', Buffer.from([0xff, 0xfe]), 'invalid_args'],
  ['much too much', 'sk-canary'.repeat(10_000), 'too_large'],
])('standard input with %s is not a key', async (_, stdin, kind) => {
  const { root } = await commandPlace()
  const argv = ['config', 'set', 'providers.openai.key', '-', '--json']
  const ran = await runCli({ root, stdin }, ...argv)
  expect([ran.code, failureOf(ran).kind]).toEqual([2, kind])
  expect(ran.stdout + ran.stderr).not.toContain('canary')
  await expect(stat(join(root, 'home', 'config.json'))).rejects.toThrow('ENOENT')
})

test('an untrusted workspace sets no provider, URL or key, and its keys are not shown', async () => {
  const { root, workspace } = await commandPlace()
  const base_url = 'https://elsewhere.example.com/v1'
  await set(root, 'providers.openai.base_url', 'https://mine.example.com')
  const providers = { openai: { base_url, key: CANARY } }
  await writeSettings(workspace, JSON.stringify({ provider: 'openai', providers, effort: 'max' }))
  const waiting = { source: 'default', untrusted: '[set]' }
  expect(await setting(root, 'providers.openai.key')).toEqual(waiting)
  expect(await setting(root, 'providers.openai.base_url')).toEqual({
    value: 'https://mine.example.com',
    source: 'user',
    untrusted: base_url,
  })
  expect(await setting(root, 'effort')).toEqual({ source: 'default', untrusted: 'max' })
  expect((await runCli({ root }, 'sessions')).stderr).toContain('provider, effort, providers')
  const trusted = await runCli({ root }, 'trust', '--yes', '--json')
  expect(Trusted.parse(JSON.parse(trusted.stdout)).settings).toEqual({
    provider: 'openai',
    effort: 'max',
    'providers.openai.key': '[set]',
    'providers.openai.base_url': base_url,
  })
  expect(trusted.stderr).toContain(base_url)
  expect(trusted.stdout + trusted.stderr).not.toContain('canary')
  expect(await setting(root, 'providers.openai.base_url')).toEqual({
    value: base_url,
    source: 'workspace',
  })
})

test('a fact about a model is set by its id, including dots', async () => {
  const { root } = await commandPlace()
  const window = 'models.gpt-5.5.window_tokens'
  expect(await setting(root, window)).toEqual({ source: 'default' })
  expect(await set(root, window, '400000')).toMatchObject({ key: window, value: 400_000 })
  await set(root, 'models.llama3.1:8b.prices.input', '0')
  expect(await setting(root, window)).toEqual({ value: 400_000, source: 'user' })
  const all = await runCli({ root }, 'config', 'get')
  expect(all.stdout).toMatch(/^models\.llama3\.1:8b\.prices\.input +0 +user/m)
  await set(root, 'models.llama3.1:8b.prices.input')
  expect(JSON.parse(await readFile(join(root, 'home', 'config.json'), 'utf8'))).toEqual({
    models: { 'gpt-5.5': { window_tokens: 400_000 } },
  })
})

const FOREIGN = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

test('a Session from elsewhere can be continued after a person reviewed and trusted it', async () => {
  const { root } = await commandPlace()
  await runCli({ root }, 'run', 'List all files')
  const listed = await runCli({ root }, 'sessions', '--json')
  const id = SessionId.parse(/"session_id":"(\w+)"/.exec(listed.stdout)?.[1])
  const own = await runCli({ root }, 'trust', id, '--json')
  expect(JSON.parse(own.stdout)).toEqual({
    ok: true,
    what: 'session',
    session_id: id,
    changed: false,
  })
  await rm(join(root, 'home', 'heads', id))
  const before = await runCli({ root }, 'run', '--session', id, '--json', 'And now?')
  expect(failureOf(before).kind).toBe('session_foreign')
  const refused = await runCli({ root }, 'trust', id, '--json')
  expect([refused.code, failureOf(refused).kind]).toEqual([2, 'invalid_args'])
  const yes = await runCli({ root }, 'trust', id, '--yes', '--json')
  expect(JSON.parse(yes.stdout)).toEqual({
    ok: true,
    what: 'session',
    session_id: id,
    changed: true,
  })
  expect((await runCli({ root }, 'run', '--session', id, 'And now?')).code).toBe(0)
})

test('the content of a foreign Session cannot move the cursor', async () => {
  const { root } = await commandPlace()
  const text = 'hello \u001b[2J\u202e'
  await writeForeignLog(root, FOREIGN, [
    { type: 'turn_started', data: { source: { presenter: 'cli' } } },
    { type: 'user_message', data: { text, prompt_mode: 'string' } },
  ])
  const { stderr } = await runCli({ root }, 'trust', FOREIGN)
  expect(stderr).toContain('hello \\u{1b}[2J')
  expect(stderr).not.toMatch(UNSAFE_CHARACTER)
})

/** The program at a terminal, in the workspace of `root`. */
async function atTerminal(root: string) {
  const program = await bundleScript(
    new URL('../../../bin/hawser.ts', import.meta.url),
    await freshFolder(),
  )
  return (...argv: readonly string[]) =>
    openPty(process.execPath, [program, ...argv], {
      columns: 80,
      rows: 24,
      cwd: join(root, 'workspace'),
      env: { HAWSER_HOME: join(root, 'home') },
    })
}

test('on a terminal a key is typed without echo, and the input can be cancelled', async () => {
  const { root } = await commandPlace()
  const key = 'providers.anthropic.key'
  const hawser = await atTerminal(root)
  const type = async (keys: string) => {
    const pty = hawser('config', 'set', key, '-')
    await pty.until(`${key} (not shown):`)
    pty.write(keys)
    const { code } = await pty.ended
    expect(pty.raw()).not.toContain('canary')
    return code
  }
  expect(await type('\u0004')).toBe(2)
  expect(await type('\r')).toBe(2)
  expect(await setting(root, key)).toEqual({ source: 'default' })
  expect(await type(`${CANARY}x\u007f\r`)).toBe(0)
  const stored = await readFile(join(root, 'home', 'config.json'), 'utf8')
  expect(JSON.parse(stored)).toEqual({ providers: { anthropic: { key: CANARY } } })
})

test('on a terminal a person is asked, and only yes confirms', async () => {
  const { root, workspace } = await commandPlace()
  await writeSettings(workspace, '{"permission":"auto"}')
  const hawser = await atTerminal(root)
  const ask = async (answer: string) => {
    const pty = hawser('trust')
    await pty.until('permission = auto')
    await pty.until('[y/N]')
    pty.write(answer)
    return (await pty.ended).code
  }
  expect(await ask('\r')).toBe(1)
  expect(await setting(root, 'permission')).toMatchObject({ value: 'ask' })
  expect(await ask('y\r')).toBe(0)
  expect(await setting(root, 'permission')).toMatchObject({ value: 'auto' })
})

test('an unknown provider is refused when it is set, not when the next Session starts', async () => {
  const { root } = await commandPlace()
  const ran = await runCli({ root }, 'config', 'set', 'provider', 'foo')
  expect(ran.code).toBe(6)
  expect(ran.stderr).toContain('Unknown provider "foo". Expected one of anthropic,')
  expect(await setting(root, 'provider')).toEqual({ source: 'default' })
  expect(await set(root, 'provider', 'rehearsal')).toMatchObject({ value: 'rehearsal' })
})
