import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSandbox } from '../../../src/host/sandbox/sandbox.ts'
import { runCli } from '../../support/cli/cli.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { logOf } from '../../support/presenters/open-chat.ts'

const { isConfined } = await systemSandbox().status()

/** A repository with a commit and a change that is not committed. */
async function repository() {
  const root = await freshFolder()
  const workspace = join(root, 'workspace')
  await mkdir(workspace)
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', workspace, ...args])
  git('init', '-q')
  await writeFile(join(workspace, 'a.txt'), 'committed\n')
  git('add', '.')
  git('-c', 'user.name=P', '-c', 'user.email=p@example.org', 'commit', '-qm', 'first')
  await writeFile(join(workspace, 'a.txt'), 'not committed\n')
  return { root, a: join(workspace, 'a.txt') }
}

test.runIf(isConfined)(
  'in auto and without a terminal, a command that discards work is denied with the reason, until a rule permits it',
  async () => {
    const { root, a } = await repository()
    const run = ['run', '--permission', 'auto', 'Run `git reset --hard`'] as const
    const denied = await runCli({ root }, ...run)
    expect(denied.code).toBe(3)
    expect(await readFile(a, 'utf8')).toBe('not committed\n')
    const result = (await logOf(root)).find((event) => event.type === 'tool_result')
    expect(result?.data).toMatchObject({
      outcome: 'denied',
      output: expect.stringContaining('it discards work that is not committed'),
    })
    const broad = await runCli({ root }, 'permissions', 'allow', '--prefix', 'git reset')
    expect([broad.code, (await runCli({ root }, ...run)).code]).toEqual([0, 3])
    await runCli({ root }, 'permissions', 'allow', '--prefix', 'git reset --hard')
    expect((await runCli({ root }, ...run)).code).toBe(0)
    expect(await readFile(a, 'utf8')).toBe('committed\n')
  },
)
