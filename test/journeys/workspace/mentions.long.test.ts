import { link, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCli } from '../../support/cli/cli.ts'
import {
  messageOf,
  nextRequest,
  sourcePlace,
  verifiedRequests,
} from '../../support/cli/mentioned.ts'

test('a resumed Session sends what was read then, whatever is on disk now', async () => {
  const { root, workspace } = await sourcePlace()
  await runCli({ root }, 'run', 'See @src/index.ts')
  const before = await nextRequest(root)
  await writeFile(join(workspace, 'src', 'index.ts'), 'export const rope = 2\n')
  await rm(join(workspace, 'Makefile'))
  expect((await nextRequest(root)) === before).toBe(true)
  await runCli({ root }, 'run', '--continue', 'And @src/index.ts now?')
  const body = await nextRequest(root)
  expect(body.includes('export const rope = 1') && body.includes('export const rope = 2')).toBe(
    true,
  )
  await verifiedRequests(root)
  const explained = await runCli({ root }, 'cache', 'explain', 'latest')
  expect(explained.code).toBe(0)
  expect(explained.stdout).not.toContain('unknown')
})

test('what cannot be included is reported to the person and the model, and the rest is sent', async () => {
  const { root, workspace } = await sourcePlace()
  await writeFile(join(root, 'secret.ts'), 'no')
  await writeFile(join(workspace, 'tool.wasm'), Buffer.from('\0asm\u0001\0\0\0'))
  await writeFile(join(workspace, 'wide.ts'), Buffer.from('\uFEFFconst é = 1\n', 'utf16le'))
  await symlink('src/index.ts', join(workspace, 'link.ts'))
  await writeFile(join(workspace, 'one.ts'), 'x\n')
  await link(join(workspace, 'one.ts'), join(workspace, 'two.ts'))
  await writeFile(join(workspace, 'empty.ts'), '')
  await runCli({ root }, 'run', 'Begin')
  const paths = [
    'wide.ts',
    'empty.ts',
    'tool.wasm',
    '../secret.ts',
    '.hawser/config.json',
    'gone.ts',
    'link.ts',
    'one.ts',
  ]
  const text = `Look: ${paths.map((path) => `@${path}`).join(' ')} and thanks, @alice`
  const run = await runCli({ root }, 'run', '--continue', text, '--json')
  expect(run.code).toBe(0)
  const { mentions, mention_errors } = messageOf(run)
  expect(mentions.map(({ path, bytes, charset }) => [path, bytes, charset])).toEqual([
    ['wide.ts', 13, 'utf-16le'],
    ['empty.ts', 0, undefined],
  ])
  expect(mention_errors).toEqual([
    {
      path: 'tool.wasm',
      code: 'unsupported_type',
      reason: 'it is a WebAssembly module of 8 bytes, not text',
    },
    { path: '../secret.ts', code: 'outside_workspace', reason: 'it is outside the workspace' },
    {
      path: '.hawser/config.json',
      code: 'outside_workspace',
      reason: 'it is in a folder that belongs to Hawser',
    },
    { path: 'gone.ts', code: 'not_found', reason: 'the file does not exist' },
    {
      path: 'link.ts',
      code: 'symlink',
      reason: 'it is a symbolic link, and symbolic links are not followed',
    },
    {
      path: 'one.ts',
      code: 'hard_link',
      reason: 'it has more than one hard link, and another may be outside the workspace',
    },
  ])
  const isTold = (await nextRequest(root)).includes('Named in this message, but not included:')
  expect(isTold).toBe(true)
  const again = await runCli({ root }, 'run', '--continue', 'Once more @gone.ts, @bob')
  expect(again.stderr).toContain('✗ gone.ts: the file does not exist')
  expect(again.stderr).toContain('No file @bob here; sent as text.')
  await verifiedRequests(root)
})

test('paths are relative to the current folder, else to the workspace, and a piped prompt is only text', async () => {
  const { root } = await sourcePlace()
  await runCli({ root }, 'run', 'Begin')
  const inside = await runCli(
    { root, folder: 'src' },
    'run',
    'See @index.ts, @../Makefile and @src/index.ts',
    '--json',
  )
  expect(messageOf(inside).mentions.map(({ path }) => path)).toEqual(['src/index.ts', 'Makefile'])
  const piped = await runCli({ root, stdin: 'See @Makefile' }, 'run', '--json')
  expect(messageOf(piped).mentions).toEqual([])
})

test('outside of the folder that --workspace names, its own files come first', async () => {
  const { root, workspace } = await sourcePlace()
  await writeFile(join(workspace, 'notes.md'), 'Of the workspace.\n')
  await writeFile(join(root, 'notes.md'), 'Of this folder.\n')
  await writeFile(join(root, 'other.md'), 'Of this folder.\n')
  const { mentions, resources } = messageOf(
    await runCli(
      { root, folder: '..' },
      'run',
      'See @src/index.ts, @notes.md, @other.md and @./other.ts',
      '--workspace',
      workspace,
      '--json',
    ),
  )
  expect(mentions.map(({ path }) => path)).toEqual(['src/index.ts'])
  expect(resources.map(({ name, size_bytes }) => [name, size_bytes])).toEqual([
    ['notes.md', 18],
    ['other.md', 16],
  ])
})
