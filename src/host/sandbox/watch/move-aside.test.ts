import { chmod, mkdir, readdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { failed, ok } from '../../../model/errors.ts'
import { moveAside, type KeepMovedFile } from './move-aside.ts'
import { protectedChanges, watchOver } from './watch.ts'

/** Runs `work` in a folder between two snapshots of `paths`, then moves aside what must not stay. */
async function between(
  paths: readonly string[],
  work: (root: string) => Promise<unknown>,
  keep?: KeepMovedFile,
) {
  const root = await freshFolder()
  await writeFile(join(root, 'AGENTS.md'), 'good')
  await symlink('AGENTS.md', join(root, 'CLAUDE.md'))
  const options = { paths, gitDirectories: [], skippedNames: [], hawserHome: '' }
  const before = await watchOver(root, options)
  await work(root)
  const after = await watchOver(root, options)
  const moved = await moveAside({ workspace: root }, protectedChanges(before, after, options), keep)
  const names = await readdir(root)
  return {
    root,
    moved: moved.ok ? moved.value : moved.error.kind,
    names: names.filter((name) => !name.startsWith('.hawser-moved-')),
    aside: names.filter((name) => name.startsWith('.hawser-moved-')),
  }
}

function keeping(): { keep: KeepMovedFile; kept: Map<string, string> } {
  const kept = new Map<string, string>()
  const keep: KeepMovedFile = async (path, content) => {
    let text = ''
    for await (const chunk of content) text += Buffer.from(chunk).toString()
    kept.set(path, text)
    return ok(undefined)
  }
  return { keep, kept }
}

test('without changes nothing is moved', async () => {
  const { moved, names } = await between(['AGENTS.md', 'CLAUDE.md', 'a/b'], (root) =>
    writeFile(join(root, 'other'), ''),
  )
  expect([moved, names]).toEqual([[], ['AGENTS.md', 'CLAUDE.md', 'other']])
})

test('a folder is passed to keep file by file and then removed', async () => {
  const { keep, kept } = keeping()
  const { moved, names, aside } = await between(
    ['.vscode'],
    async (root) => {
      await mkdir(join(root, '.vscode/a/b'), { recursive: true })
      await writeFile(join(root, '.vscode/x'), '1')
      await writeFile(join(root, '.vscode/a/b/y'), 'y'.repeat(200_000))
      await symlink('/etc/passwd', join(root, '.vscode/a/l'))
    },
    keep,
  )
  expect([moved, names, aside]).toEqual([['.vscode'], ['AGENTS.md', 'CLAUDE.md'], []])
  expect(Object.fromEntries(kept)).toEqual({
    '.vscode/x': '1',
    '.vscode/a/b/y': 'y'.repeat(200_000),
    '.vscode/a/l': '/etc/passwd',
  })
})

test('a folder closed to a look is moved, and stays under its new name if its content cannot be read', async () => {
  const { keep, kept } = keeping()
  const { root, moved, names, aside } = await between(
    ['.vscode'],
    async (at) => {
      await mkdir(join(at, '.vscode'))
      await writeFile(join(at, '.vscode/x'), '1')
      await chmod(join(at, '.vscode'), 0o311)
    },
    keep,
  )
  expect([moved, names]).toEqual([['.vscode'], ['AGENTS.md', 'CLAUDE.md']])
  // Root reads everything.
  const isRoot = process.getuid?.() === 0
  expect([...kept]).toEqual(isRoot ? [['.vscode/x', '1']] : [])
  expect(aside.length).toBe(isRoot ? 0 : 1)
  for (const name of aside) await chmod(join(root, name), 0o700)
})

test('without keep, the file stays in its folder under a name that nothing reads', async () => {
  const make = async (root: string) => {
    await mkdir(join(root, '.vscode'))
    await writeFile(join(root, '.vscode/x'), 'evil')
  }
  const refusing: KeepMovedFile = async () => failed('storage_failed', 'full')
  for (const keep of [undefined, refusing]) {
    const { root, moved, names, aside } = await between(['.vscode'], make, keep)
    expect([moved, names, aside.length]).toEqual([['.vscode'], ['AGENTS.md', 'CLAUDE.md'], 1])
    expect(await readFile(join(root, aside[0] ?? '', 'x'), 'utf8')).toBe('evil')
  }
})

test('a file that another process changed meanwhile is left alone', async () => {
  const { moved, root } = await between(['AGENTS.md'], async (folder) => {
    await unlink(join(folder, 'AGENTS.md'))
    await writeFile(join(folder, 'AGENTS.md'), 'better')
  })
  expect([moved, await readFile(join(root, 'AGENTS.md'), 'utf8')]).toEqual([[], 'better'])
})

test('an entry on the way to a protected path counts as protected', async () => {
  const { keep, kept } = keeping()
  const outside = await freshFolder()
  await writeFile(join(outside, 'config'), 'theirs')
  const { moved } = await between([], (root) => symlink(outside, join(root, '.git')), keep)
  expect([moved, kept.get('.git')]).toEqual([['.git'], outside])
  expect(await readdir(outside)).toEqual(['config'])
})

test('other spellings of a protected name are found', async () => {
  const { keep } = keeping()
  const { moved, names } = await between(
    ['agents.md'],
    async (root) => {
      await mkdir(join(root, '.GIT/hooks'), { recursive: true })
      await writeFile(join(root, '.GIT/hooks/pre-commit'), '')
      await writeFile(join(root, 'Agents.Md'), '')
      await writeFile(join(root, 'AGENTS.md\u200b'), '')
    },
    keep,
  )
  expect(new Set(moved)).toEqual(new Set(['.GIT/hooks/pre-commit', 'Agents.Md', 'AGENTS.md\u200b']))
  expect(names).toEqual(['.GIT', 'AGENTS.md', 'CLAUDE.md'])
})

test('a file that another command already moved away is not reported again', async () => {
  const root = await freshFolder()
  await writeFile(join(root, '.mcp.json'), 'evil')
  const finding = { path: '.mcp.json', earlier: {} }
  const moved = await Promise.all(
    [1, 2].map(() => moveAside({ workspace: root }, [finding], undefined)),
  )
  expect(moved.flatMap((one) => (one.ok ? one.value : [one.error.kind]))).toEqual(['.mcp.json'])
})
