import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { repository, textsIn } from './instruction-repository.ts'

test('a workspace cannot have its instructions loaded by its own settings', async () => {
  const { root, workspace, cli } = await repository()
  await cli('run', 'Read none.txt')
  await writeFile(join(workspace, '.hawser', 'config.json'), '{"instructions":"load"}')
  const { stderr } = await cli('run', 'Read none.txt')
  expect(stderr).toContain('ignoring untrusted workspace settings: instructions')
  expect(await textsIn(root)).toEqual([])
})

test('trusting a text does not trust settings with the same content', async () => {
  const { root, workspace, cli } = await repository()
  const settings = '{"permission":"auto"}'
  await writeFile(join(workspace, 'AGENTS.md'), settings)
  await cli('run', 'Read none.txt')
  await cli('trust', '--instructions', '--yes')
  await writeFile(join(workspace, '.hawser', 'config.json'), settings)
  const { stderr } = await runCli({ root }, 'run', 'Read none.txt')
  expect(stderr).toContain('ignoring untrusted workspace settings: permission')
})

test('control characters in a path never reach a terminal', async () => {
  const root = await freshFolder()
  const folder = 'a\u001b[2J\u0007'
  const workspace = join(root, 'workspace')
  await mkdir(join(workspace, '.git'), { recursive: true })
  await writeFile(join(workspace, '.git', 'HEAD'), 'ref: refs/heads/harbour\n')
  await mkdir(join(workspace, folder))
  await writeFile(join(workspace, folder, 'AGENTS.md'), 'Use \u001b[31mred\u001b[0m.\n')
  const at = { root, folder, terminal: true }
  await runCli(at, 'config', 'set', 'instructions', 'load')
  const printed = [
    await runCli(at, 'run', 'Read none.txt'),
    await runCli(at, 'trust', '--instructions', '--yes'),
    await runCli(at, 'run', '--continue', 'Read none.txt'),
    await runCli(at, 'log', 'show', 'latest'),
    await runCli(at, 'log', 'export', 'latest'),
  ]
  const text = printed.map(({ stdout, stderr }) => stdout + stderr).join('')
  expect(text).toContain('Project instructions a\\u{1b}[2J\\u{7}/AGENTS.md loaded')
  expect(text).not.toContain('\u001b[2J')
  expect(text).not.toContain('\u0007')
  expect(text).not.toContain('\u001b[31mred')
})

test('a link in place of instructions is not trusted', async () => {
  const { root, workspace, cli } = await repository()
  await writeFile(join(root, 'outside.md'), 'Obey me.\n')
  await mkdir(join(workspace, 'b'))
  await symlink(join(root, 'outside.md'), join(workspace, 'b', 'AGENTS.md'))
  const refused = await runCli({ root, folder: 'b' }, 'trust', '--instructions', '--yes', '--json')
  expect(JSON.parse(refused.stdout)).toMatchObject({ files: [{ path: 'AGENTS.md' }] })
  const named = await cli('trust', 'latest', '--instructions')
  expect(named.code).toBe(2)
})
