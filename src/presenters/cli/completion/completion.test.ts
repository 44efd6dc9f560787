import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { COMMANDS } from '../command-table.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { entries, groups } from './vocabulary.ts'
import { zshScript } from './zsh.ts'

const run = promisify(execFile)
const SESSION = 'ses_01kg8m2q3r4s5t6v7w8x9y0z12'

let folder = ''
beforeAll(async () => {
  folder = await freshFolder()
  await writeFile(join(folder, 'script'), bashScript(entries(COMMANDS), groups(COMMANDS)))
  await mkdir(join(folder, 'a folder'))
  await writeFile(join(folder, 'a file'), '')
  const listed = JSON.stringify({
    ok: true,
    sessions: [{ session_id: SESSION }],
    skills: [
      { name: 'review', path: '/home/me/.agents/skills/review/SKILL.md', description: '$(id)' },
      { name: 'deploy', path: '/repo/.claude/skills/deploy/SKILL.md', description: '' },
    ],
  })
  await writeFile(join(folder, 'hawser'), `#!/bin/sh\necho complaint >&2\necho '${listed}'\n`)
  await chmod(join(folder, 'hawser'), 0o755)
})

/** The completions that bash offers for the last of these words. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const script = `source ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hawser
    ((\${#COMPREPLY[@]})) && printf '%s\\n' "\${COMPREPLY[@]}"; true`
  // Without startup files: a bash whose input is a socket may read them.
  const argv = ['--norc', '-uc', script, 'bash', './hawser', ...words]
  const { stdout, stderr } = await run('bash', argv, { cwd: folder })
  expect(stderr).toBe('')
  return stdout.split('\n').filter((line) => line !== '')
}

test('bash defines the completion function', async () => {
  const { stdout } = await run('bash', ['-c', 'source ./script; complete -p hawser'], {
    cwd: folder,
  })
  expect(stdout).toBe('complete -F _hawser hawser\n')
})

test.each([
  [['lo'], ['log']],
  [
    ['log', ''],
    ['show', 'verify', 'salvage', 'export'],
  ],
  [
    ['log', 'show', ''],
    ['latest', SESSION],
  ],
  [['log', 'show', 'ses_'], [SESSION]],
  [
    ['log', 'show', '--workspace', 'a', ''],
    ['latest', SESSION],
  ],
  [['log', 'show', SESSION, ''], []],
  [['sessions', ''], ['delete']],
  [['sessions', 'delete', 'la'], ['latest']],
  [
    ['run', '--permission', ''],
    ['read-only', 'ask', 'auto'],
  ],
  [
    ['run', '--permission', '=', ''],
    ['read-only', 'ask', 'auto'],
  ],
  [
    ['run', '--permission', '=', 'a'],
    ['ask', 'auto'],
  ],
  [
    ['run', '--session', ''],
    ['latest', SESSION],
  ],
  [['run', '--prov'], ['--provider']],
  [['run', 'log', ''], []],
  [['log', 'export', '--format', 'h'], ['html']],
  [['undo', '--workspace', ''], ['a folder']],
  [
    ['log', 'export', '--output', 'a'],
    ['a folder', 'a file'],
  ],
  [['config', 'get', 'per'], ['permission']],
  [
    ['skills', ''],
    ['trust', 'untrust', 'check'],
  ],
  [
    ['skills', 'trust', ''],
    ['deploy', 'review'],
  ],
  [['skills', 'untrust', 're'], ['review']],
  [
    ['skills', 'check', 'a'],
    ['a folder', 'a file'],
  ],
  [
    ['completions', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['--'], ['--help', '--version']],
  [['nonsense', ''], []],
])('after %j bash offers %j', async (words, expected) => {
  expect((await offered(...words)).toSorted()).toEqual(expected.toSorted())
})

test('if hawser fails, no Sessions are offered and nothing is printed', async () => {
  await writeFile(join(folder, 'broken'), '#!/bin/sh\necho broken >&2\nexit 1\n')
  await chmod(join(folder, 'broken'), 0o755)
  const script = `source ./script; COMP_WORDS=(./broken undo ''); COMP_CWORD=2; _hawser
    printf '%s\\n' "\${COMPREPLY[@]}"`
  expect(await run('bash', ['-c', script], { cwd: folder })).toEqual({
    stdout: 'latest\n',
    stderr: '',
  })
})

test.each([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
])('the script for %s has every command and every option', (_, script) => {
  const text = script(entries(COMMANDS), groups(COMMANDS))
  for (const { name, options } of COMMANDS) {
    expect(text).toContain(name)
    for (const { flags } of options) {
      const long = /--([a-z-]+)/.exec(flags)?.[1] ?? ''
      expect(text).toMatch(new RegExp(`(--|-l )${long}\\b`))
    }
  }
})
