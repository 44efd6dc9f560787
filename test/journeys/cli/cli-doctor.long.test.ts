import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId, TurnId } from '../../../src/model/ids.ts'
import { Output } from '../../../src/presenters/cli/commands/doctor.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli, type CliPlace } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { sessionStarted, turnEnded } from '../../support/log/story.ts'
import { commandPlace, corruptLog, writeLog } from '../../support/session/write-log.ts'

const TURN = TurnId.parse('trn_01kg8m2q3r4s5t6v7w8x9y0z12')

async function examined(place: CliPlace, ...argv: readonly string[]) {
  const { code, stdout, stderr } = await runCli(place, 'doctor', '--json', ...argv)
  expect(stderr).toBe('')
  const { checks, healthy } = Output.parse(JSON.parse(stdout))
  const found = new Map(checks.map((check) => [check.id, check]))
  return { code, healthy, status: (id: string) => found.get(id)?.status, check: found }
}

test('a new folder is healthy, and nothing is created in it', async () => {
  const { root, workspace } = await commandPlace()
  const { code, healthy, check } = await examined({ root })
  expect({ code, healthy }).toEqual({ code: 0, healthy: true })
  expect([...check.keys()]).toEqual([
    'node',
    'platform',
    'sandbox',
    ...(check.get('sandbox')?.status === 'ok' ? ['limits'] : []),
    'ripgrep',
    'git',
    'home',
    'workspace',
    'disk',
    'locks',
    'settings',
    'sessions',
    'skills',
    'instructions',
    'provider',
    'terminal',
  ])
  expect(await readdir(workspace)).toEqual([])
  const { stdout } = await runCli({ root }, 'doctor')
  expect(stdout).toMatch(/^ok +node +Node \d+/)
})

test('the project instructions that apply are listed, and one that is refused or untrusted is a warning', async () => {
  const { root, workspace } = await commandPlace()
  await writeFile(join(workspace, 'AGENTS.md'), 'Use tabs.\n')
  await mkdir(join(root, 'home'), { recursive: true, mode: 0o700 })
  await writeFile(join(root, 'home', 'AGENTS.md'), 'Be brief.\n')
  const named = (await examined({ root })).check.get('instructions')
  expect(named).toMatchObject({
    status: 'ok',
    text: '$HAWSER_HOME/AGENTS.md (10 bytes, named); AGENTS.md (10 bytes, named)',
    instructions: [
      { path: '$HAWSER_HOME/AGENTS.md', bytes: 10, state: 'named' },
      { path: 'AGENTS.md', bytes: 10, state: 'named' },
    ],
  })
  await runCli({ root }, 'config', 'set', 'instructions', 'load')
  const untrusted = (await examined({ root })).check.get('instructions')
  expect(untrusted).toMatchObject({
    status: 'warning',
    next_actions: [{ command: 'hawser trust --instructions' }],
    instructions: [{ state: 'loaded' }, { state: 'named', why: 'untrusted' }],
  })
  await rm(join(workspace, 'AGENTS.md'))
  await symlink('/etc/passwd', join(workspace, 'AGENTS.md'))
  const refused = (await examined({ root })).check.get('instructions')
  expect(refused).toMatchObject({
    status: 'warning',
    instructions: [{ state: 'loaded' }, { path: 'AGENTS.md', state: 'refused', why: 'link' }],
  })
  const { stdout } = await runCli({ root }, 'doctor', '--bundle')
  expect(stdout).not.toContain('AGENTS.md')
})

test('Sessions are counted, and a damaged one is a problem with a next step', async () => {
  const { root } = await commandPlace()
  await runCli({ root }, 'run', 'List all files')
  expect((await examined({ root })).check.get('sessions')?.text).toBe('1 Session, 1 Turn')
  const { stdout } = await runCli({ root }, 'sessions', '--json')
  const id = SessionId.parse(/"session_id":"(\w+)"/.exec(stdout)?.[1])
  await corruptLog(root, id, (text) => text.replace('"turn_started"', '"turn_begun"'))
  const { code, healthy, check } = await examined({ root })
  expect({ code, healthy }).toEqual({ code: 1, healthy: false })
  expect(check.get('sessions')).toMatchObject({
    status: 'problem',
    text: expect.stringContaining(id),
    next_actions: [{ command: `hawser log verify ${id}` }],
  })
})

test.each([
  ['home', '{"permision":"auto"}'],
  ['workspace/.hawser', '{"permision":"auto"}'],
])('an unknown key in %s is reported, and the other checks still run', async (where, content) => {
  const { root } = await commandPlace()
  await runCli({ root }, 'run', 'List all files')
  await writeFile(join(root, where, 'config.json'), content)
  const { code, status, check } = await examined({ root })
  expect([code, status('settings')]).toEqual([1, 'problem'])
  expect(check.get('settings')?.text).toContain('permision')
  expect(status('sessions')).toBe('warning')
  expect(status('locks')).toBe('ok')
})

test('settings that wait for trust are a warning', async () => {
  const { root, workspace } = await commandPlace()
  await mkdir(join(workspace, '.hawser'), { mode: 0o700 })
  await writeFile(join(workspace, '.hawser', 'config.json'), '{"permission":"auto"}')
  const { code, check } = await examined({ root })
  expect(code).toBe(0)
  expect(check.get('settings')).toMatchObject({
    status: 'warning',
    next_actions: [{ command: 'hawser trust' }],
  })
})

test('a workspace that is missing, not a folder, or a dangling link is a problem, and the other checks still run', async () => {
  const { root } = await commandPlace()
  await writeFile(join(root, 'file'), '')
  await symlink('nowhere', join(root, 'link'))
  for (const name of ['missing', 'file', 'link']) {
    const { code, status } = await examined({ root }, '--workspace', join(root, name))
    expect([name, code, status('workspace')]).toEqual([name, 1, 'problem'])
    expect([status('home'), status('locks')]).toEqual(['ok', 'ok'])
  }
  const blank = await runCli({ root }, 'doctor', '--workspace', '', '--json')
  expect([blank.code, failureOf(blank).kind]).toEqual([2, 'invalid_args'])
})

test.skipIf(process.getuid?.() === 0)(
  'a workspace that cannot be written is a problem',
  async () => {
    const { root, workspace } = await commandPlace()
    await chmod(workspace, 0o500)
    const { code, status } = await examined({ root })
    expect([code, status('workspace')]).toEqual([1, 'problem'])
    await chmod(workspace, 0o700)
  },
)

test('an unusable home is a problem, and the other checks still run', async () => {
  const { root } = await commandPlace()
  await writeFile(join(root, 'file'), '')
  await mkdir(join(root, 'open'))
  await chmod(join(root, 'open'), 0o777)
  for (const home of ['missing/home', 'file', 'file/home', 'open']) {
    const { code, status } = await examined({ root, env: { HAWSER_HOME: join(root, home) } })
    expect([home, code, status('home')]).toEqual([home, 1, 'problem'])
    expect([status('workspace'), status('sessions')]).toEqual(['ok', 'warning'])
  }
})

test('without a usable home every command fails, and nothing is created', async () => {
  const { root, workspace } = await commandPlace()
  const before = process.env['HOME']
  process.env['HOME'] = ''
  onTestFinished(() => {
    if (before === undefined) delete process.env['HOME']
    else process.env['HOME'] = before
  })
  const place = { root, env: { HAWSER_HOME: '' } }
  const { code, status } = await examined(place)
  expect([code, status('home'), status('workspace')]).toEqual([1, 'problem', 'ok'])
  for (const argv of [
    ['run', 'hi'],
    ['sessions'],
    ['config', 'get'],
    ['config', 'set', 'model', 'm'],
  ]) {
    const ran = await runCli(place, ...argv, '--json')
    expect([argv, ran.code, failureOf(ran).kind]).toEqual([argv, 2, 'invalid_args'])
  }
  expect(await readdir(workspace)).toEqual([])
})

test('keys are reported by name and never shown', async () => {
  const { root } = await commandPlace()
  const env = { OPENAI_API_KEY: 'sk-canary-4711', ANTHROPIC_API_KEY: '' }
  const { stdout, stderr } = await runCli({ root, env }, 'doctor')
  expect(stdout).toContain('OPENAI_API_KEY is set')
  expect(stdout).not.toContain('ANTHROPIC_API_KEY')
  expect(stdout + stderr).not.toContain('canary')
})

test('the provider is reported with the reason and whether its key is set', async () => {
  const { root } = await commandPlace()
  const provider = async (env: Readonly<Record<string, string>>) => {
    const { code, check } = await examined({ root, env })
    return [code, check.get('provider')?.status, check.get('provider')?.text]
  }
  expect(await provider({})).toEqual([
    0,
    'ok',
    'New Sessions use the offline demo model, because no provider is chosen and no API key is set.',
  ])
  expect(
    await provider({ ANTHROPIC_API_KEY: 'sk-canary-1', OPENAI_API_KEY: 'sk-canary-2' }),
  ).toEqual([
    0,
    'ok',
    'New Sessions use anthropic, because ANTHROPIC_API_KEY is set; at https://api.anthropic.com, with a key from the environment.',
  ])
  expect(await provider({ HAWSER_PROVIDER: 'openai' })).toEqual([
    1,
    'problem',
    'New Sessions use openai, because HAWSER_PROVIDER is set. No API key for openai.',
  ])
  const stdin = 'sk-canary-3'
  await runCli({ root, stdin }, 'config', 'set', 'providers.openai.key', '-')
  expect(await provider({})).toEqual([
    0,
    'ok',
    'New Sessions use openai, because its key is in the settings; at https://api.openai.com/v1, with a key from the settings.',
  ])
  const [code, status, text] = await provider({ OPENAI_BASE_URL: 'https://canary.example.com' })
  expect([code, status]).toEqual([1, 'problem'])
  expect(text).not.toContain('canary')
})

test('a report for pasting contains nothing private: no key, no path, no text, no name', async () => {
  const root = join(await freshFolder(), 'canary-root')
  const workspace = join(root, 'workspace')
  await mkdir(workspace, { recursive: true })
  const env = {
    ANTHROPIC_API_KEY: 'sk-canary-1',
    OPENAI_API_KEY: 'sk-canary-2',
    SOME_TOKEN: 'canary-3',
    HAWSER_PROVIDER: 'rehearsal',
    TERM: 'canary-term',
    LANG: 'canary-locale',
    USER: 'canary-user',
  }
  const place = { root, env }
  await runCli(place, 'run', '--permission', 'auto', 'Write "canary-content" to canary-file.txt')
  await runCli(place, 'config', 'set', 'model', 'canary-model')
  const stored = { model: 'canary-model', provider: 'canary-provider' }
  await writeFile(join(root, 'home', 'config.json'), JSON.stringify(stored))
  await runCli({ ...place, env: { ...env, HAWSER_PROVIDER: 'canary-provider' } }, 'run', 'canary')
  const chosen = { ...env, HAWSER_PROVIDER: 'canary-provider' }
  const reports = [await bundled({ root, env: chosen })]
  const kept = { key: 'sk-canary-key', base_url: 'https://canary.example.com/v1' }
  const settings = {
    provider: 'openai-chat',
    providers: { anthropic: kept, openai: kept, 'openai-chat': kept },
    models: { 'canary-model': { window_tokens: 1 } },
  }
  for (const [where, content] of [
    ['home', JSON.stringify(settings)],
    ['workspace/.hawser', JSON.stringify(settings)],
    ['workspace/.hawser', '{"provider":"canary-there","permission":"auto"}'],
    ['workspace/.hawser', '{"canary-key":"canary-value"}'],
    ['home', '{"limits":{"canary-key":1}}'],
    ['home', 'canary, no JSON'],
  ] as const) {
    await writeFile(join(root, where, 'config.json'), content)
    reports.push(await bundled({ root, env: chosen }))
  }
  const nowhere = ['--workspace', join(root, 'canary-nowhere')]
  reports.push(await bundled({ root, env: chosen }, ...nowhere))
  for (const report of reports) {
    expect(report).not.toMatch(/canary/i)
    expect(report).not.toContain(root)
    expect(report).toContain('permission = ')
  }
  expect(reports[0]).toContain('provider = (set, not shown) (user)')
})

/** The report as text and as JSON; both are for pasting. */
async function bundled(place: CliPlace, ...argv: readonly string[]): Promise<string> {
  const words = await runCli(place, 'doctor', '--bundle', ...argv)
  const json = await runCli(place, 'doctor', '--bundle', '--json', ...argv)
  expect([words.stderr, json.stderr]).toEqual(['', ''])
  return words.stdout + json.stdout
}

test('the report lists the errors of the last Turns by kind, the latest first', async () => {
  const { root } = await commandPlace()
  const ended = turnEnded(TURN)
  const failed = (kind: 'rate_limited' | 'network') =>
    ({
      ...ended,
      data: { ...ended.data, status: 'failed', error: { kind, message: 'canary' } },
    }) as EventDraft
  await writeLog(root, [sessionStarted])
  expect(await bundled({ root })).toContain('last errors: none\n')
  await writeLog(root, [sessionStarted, failed('rate_limited'), ended, failed('network')])
  const report = await bundled({ root })
  expect(report).toContain('last errors: network, rate_limited\n')
  expect(report).not.toContain('canary')
})
