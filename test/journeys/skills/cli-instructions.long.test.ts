import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository, textsIn } from './instruction-repository.ts'

test('instructions of a repository are loaded by setting and trust, and every break of the prefix has a cause', async () => {
  const { root, workspace, cli } = await repository()
  expect((await cli('run', 'Read none.txt')).code).toBe(0)
  expect((await cli('config', 'set', 'instructions', 'load')).code).toBe(0)
  const waiting = await cli('run', '--continue', 'Read none.txt')
  expect(waiting.stderr).toContain('"AGENTS.md" is not loaded')
  expect(await textsIn(root)).toEqual([])
  const asked = await cli('trust', '--instructions')
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('packages/a/CLAUDE.md')])
  const trusted = await cli('trust', '--instructions', '--yes')
  expect([trusted.code, trusted.stdout]).toEqual([
    0,
    'Trusted project instructions: AGENTS.md, packages/a/CLAUDE.md.\n',
  ])
  expect((await cli('trust', '--instructions')).stdout).toContain('No untrusted')
  await cli('run', '--continue', 'Read none.txt')
  expect(await textsIn(root)).toEqual(['AGENTS.md allowed', 'packages/a/CLAUDE.md allowed'])
  await writeFile(join(workspace, 'AGENTS.md'), 'Use spaces.\n')
  await cli('run', '--continue', 'Read none.txt')
  await cli('trust', '--instructions', '--yes')
  await cli('run', '--continue', 'Read none.txt')
  expect((await textsIn(root)).at(-1)).toBe('AGENTS.md allowed')
  const explained = await cli('cache', 'explain', 'latest', '--json')
  expect(explained.stdout).not.toContain('unknown')
  expect((await cli('log', 'verify', 'latest', '--requests')).code).toBe(0)
  const shown = await cli('log', 'show', 'latest')
  expect(shown.stdout).toContain('Project instructions AGENTS.md loaded: 10 bytes, now allowed')
  expect(shown.stdout).toContain('2 instruction files')
  const exported = await cli('log', 'export', 'latest')
  expect(exported.stdout).toContain('Project instructions AGENTS.md loaded')
})
