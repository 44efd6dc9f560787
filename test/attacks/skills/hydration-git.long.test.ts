import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemSandbox, type ConfinedRun } from '../../../src/host/sandbox/sandbox.ts'
import { runHydrationCommand } from '../../../src/turn/skills/run-command.ts'
import { freshFolder } from '../../support/host/folder.ts'
import { treeHash } from '../../support/host/tree-hash.ts'
import {
  GIT_ATTACKS,
  hostileRepository,
  type GitAttack,
  type HostileRepository,
} from './hydration-git.ts'

const sandbox = systemSandbox()
const { isConfined } = await sandbox.status()

async function hydrated(
  { path }: Pick<HostileRepository, 'path'>,
  argv: readonly string[],
  method: 'runConfined' | 'runUnconfined',
) {
  const home = await freshFolder()
  const runReadOnly: ConfinedRun = sandbox[method]({
    workspace: path,
    home,
    writable: 'nothing',
    protectedPaths: [],
  })
  const { signal } = new AbortController()
  const made = await runHydrationCommand(argv, 20_000, {
    runReadOnly,
    signal,
    files: { root: path },
  })
  return { ...made, output: made.raw?.bytes.toString('utf8') ?? '' }
}

// Without a sandbox a program that starts can leave its mark, which shows that none starts.
describe('git in its safe form', () => {
  test.each(GIT_ATTACKS.map((attack) => [attack.name, attack] as const))(
    'starts no program: %s',
    async (_, attack) => {
      const repository = await hostileRepository(attack)
      await repository.git(...attack.args).catch(() => {})
      expect(await repository.marked(), 'a plain git starts it').toBe(true)
      const before = await treeHash(repository.path)
      const { output } = await hydrated(repository, ['git', ...attack.args], 'runUnconfined')
      expect(await repository.marked()).toBe(false)
      expect(output).not.toContain('STARTED')
      expect(await treeHash(repository.path)).toBe(before)
    },
  )

  test('shows the same as a plain git in a harmless repository', async () => {
    const harmless: GitAttack = { name: '', args: [], config: '' }
    const repository = await hostileRepository(harmless)
    for (const args of [
      ['diff', 'HEAD'],
      ['status'],
      ['log', '-p'],
      // The line of a.txt that is not committed has the current second as its date, so -s omits it.
      ['blame', '-s', 'a.txt'],
      ['blame', 'b.txt'],
      ['show'],
      ['branch', '--list'],
      ['rev-parse', '--show-toplevel'],
    ]) {
      const made = await hydrated(repository, ['git', ...args], 'runUnconfined')
      expect([made.status, made.output]).toEqual(['ok', await repository.git(...args)])
    }
  })

  test('reads the work tree around the git directory, whatever the settings say', async () => {
    const moved: GitAttack = { name: '', args: [], config: '[core]\nworktree = ELSEWHERE\n' }
    const repository = await hostileRepository(moved)
    await mkdir(join(repository.elsewhere, 'x'))
    await writeFile(join(repository.elsewhere, 'a.txt'), 'elsewhere\n')
    expect(await repository.git('diff', 'HEAD')).toContain('elsewhere')
    const { status, output } = await hydrated(repository, ['git', 'diff', 'HEAD'], 'runUnconfined')
    expect([status, output.includes('elsewhere'), output.includes('+two')]).toEqual([
      'ok',
      false,
      true,
    ])
  })

  test.each([
    ['HEAD is a link', 'ln -s refs/heads/$(git branch --show-current) h && mv -T h .git/HEAD'],
    ['.git is a link to a file', 'mv .git gd && echo gitdir: gd > file && ln -s file .git'],
  ])('reads no other work tree if %s', async (_, script) => {
    const moved: GitAttack = { name: '', args: [], config: '[core]\nworktree = ELSEWHERE\n' }
    const repository = await hostileRepository(moved)
    await writeFile(join(repository.elsewhere, 'a.txt'), 'elsewhere\n')
    execFileSync('sh', ['-c', script], { cwd: repository.path })
    expect(await repository.git('diff', 'HEAD')).toContain('elsewhere')
    const { status, output } = await hydrated(repository, ['git', 'diff', 'HEAD'], 'runUnconfined')
    expect([status, output]).toEqual(['failed', ''])
  })

  test('does not print other files in its messages', async () => {
    const attack: GitAttack = {
      name: '',
      args: [],
      config: '[blame]\nignoreRevsFile = ELSEWHERE/secret\n',
    }
    const repository = await hostileRepository(attack)
    await writeFile(join(repository.elsewhere, 'secret'), 'top secret\n')
    await expect(repository.git('blame', 'a.txt')).rejects.toThrow('top secret')
    const { output } = await hydrated(repository, ['git', 'blame', 'a.txt'], 'runUnconfined')
    expect(output).not.toContain('top secret')
  })
})

describe.skipIf(!isConfined)('git in the sandbox', () => {
  test.each(
    GIT_ATTACKS.filter((_, at) => at % 4 === 0).map((attack) => [attack.name, attack] as const),
  )('starts no program and changes nothing: %s', async (_, attack) => {
    const repository = await hostileRepository(attack)
    const before = await treeHash(repository.path)
    const { output } = await hydrated(repository, ['git', ...attack.args], 'runConfined')
    expect(output).not.toContain('STARTED')
    expect([await repository.marked(), await treeHash(repository.path)]).toEqual([false, before])
  })

  test('shows what changed', async () => {
    const repository = await hostileRepository({ name: '', args: [], config: '' })
    const made = await hydrated(repository, ['git', 'diff', 'HEAD'], 'runConfined')
    expect([made.status, made.error, made.output.includes('+two')]).toEqual(['ok', undefined, true])
  })
})
