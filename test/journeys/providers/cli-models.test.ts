import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Output } from '../../../src/presenters/cli/commands/settings/models.ts'
import { catalogue } from '../../../src/providers/models/catalogue.ts'
import { AS_OF, SOURCES } from '../../../src/providers/models/table.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'

/** A user with these settings and without a workspace, because none is needed. */
async function userPlace(settings: object = {}): Promise<string> {
  const root = await freshFolder()
  await mkdir(join(root, 'home'), { mode: 0o700 })
  await writeFile(join(root, 'home', 'config.json'), JSON.stringify(settings), { mode: 0o600 })
  return root
}

async function listed(root: string, ...argv: readonly string[]) {
  const { code, stdout, stderr } = await runCli({ root }, 'models', '--json', ...argv)
  expect([code, stderr]).toEqual([0, ''])
  return Output.parse(JSON.parse(stdout))
}

test('every model is listed with its facts and their sources', async () => {
  const root = await userPlace()
  expect(await listed(root)).toEqual({
    ok: true,
    as_of: AS_OF,
    models: catalogue({}).rows(),
    references: SOURCES,
  })
  await expect(stat(join(root, 'workspace'))).rejects.toThrow('ENOENT')
})

test('the models of one provider can be listed alone', async () => {
  const { models } = await listed(await userPlace(), '--provider', 'openai-chat')
  expect(models).toEqual(catalogue({}).rows('openai-chat'))
  expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(['openai-chat']))
})

test('model settings override the catalogue and add models', async () => {
  const overrides = {
    'gpt-5.2': { window_tokens: 8_000 },
    'my-model': { late_role: 'user' },
  } as const
  const root = await userPlace({ models: overrides })
  const { models } = await listed(root, '--provider', 'openai')
  expect(models).toEqual(catalogue(overrides).rows('openai'))
  const changed = models.filter(({ sources }) => Object.values(sources).includes('settings'))
  expect(changed.map(({ provider, id }) => [provider, id])).toEqual([
    ['openai', 'gpt-5.2'],
    ['any', 'my-model'],
  ])
})

test('a person sees one line per model, and a legend', async () => {
  const root = await userPlace({
    models: { 'my-model': { window_tokens: 32_768, files: false, prices: { input: 0.125 } } },
  })
  const { code, stdout } = await runCli({ root }, 'models', '--provider', 'anthropic')
  expect(code).toBe(0)
  const lines = stdout.split('\n').map((line) => line.split(/ {2,}/))
  const [header = [], first = []] = lines
  expect(header).toHaveLength(first.length)
  expect(first[0]).toBe('claude-opus-5-5 *')
  expect(lines).toContainEqual(['my-model', 'any', '32,768', '–', '–', 'no', '0.125', '–', '–'])
  expect(lines.map(([start]) => start).filter((start) => start === '*' || start === '–')).toEqual([
    '*',
    '–',
  ])
  expect(stdout).toContain(AS_OF)
})

test('an unknown provider is refused, and so are unreadable settings', async () => {
  const ran = await runCli(
    { root: await userPlace() },
    'models',
    '--provider',
    'antropic',
    '--json',
  )
  const { kind, details } = failureOf(ran)
  expect([ran.code, kind, details]).toEqual([
    2,
    'invalid_args',
    { providers: ['anthropic', 'openai', 'openai-chat'] },
  ])
  const root = await userPlace({ models: { 'my-model': { window: 1 } } })
  const bad = await runCli({ root }, 'models', '--json')
  expect([bad.code, failureOf(bad).kind]).toEqual([2, 'invalid_args'])
})
