import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Output as Got } from '../../../src/presenters/cli/commands/settings/config-get.ts'
import { Output as Set } from '../../../src/presenters/cli/commands/settings/config-set.ts'
import { failureOf } from '../../support/cli/cli-answer.ts'
import { runCli } from '../../support/cli/cli.ts'
import { commandPlace } from '../../support/session/write-log.ts'

test('the engine is chosen by its name: an unknown one is an error, and an untrusted workspace chooses none', async () => {
  const { root, workspace } = await commandPlace()
  const set = await runCli({ root }, 'config', 'set', 'engine', 'files', '--json')
  expect(Set.parse(JSON.parse(set.stdout))).toMatchObject({ value: 'files', where: 'user' })
  const say = ['run', '--provider', 'rehearsal', 'Hello'] as const
  expect((await runCli({ root }, ...say)).code).toBe(0)
  const refused = await runCli({ root }, 'config', 'set', 'engine', 'nats', '--json')
  expect(failureOf(refused)).toMatchObject({ kind: 'invalid_args' })
  const path = join(root, 'home', 'config.json')
  await writeFile(path, '{"engine":"nats"}')
  for (const command of [['sessions'], say, ['gc']]) {
    const { code, stderr } = await runCli({ root }, ...command)
    expect([code, stderr]).toEqual([2, expect.stringContaining('engine')])
    expect(stderr).toContain('"files"')
    expect(stderr).toContain(path)
  }
  await rm(path)
  await writeFile(join(workspace, '.hawser', 'config.json'), '{"engine":"files"}')
  const got = await runCli({ root }, 'config', 'get', 'engine', '--json')
  const [setting] = Got.parse(JSON.parse(got.stdout)).settings
  expect(setting).toMatchObject({ source: 'default', untrusted: 'files' })
})
