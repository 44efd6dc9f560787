import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../../encoding/unified-diff.ts'
import { freshFolder } from '../../../../test/support/host/folder.ts'
import { patchOf } from './patch.ts'

const run = promisify(execFile)

const PATHS = [
  'plain.txt',
  'a folder/with a name.txt',
  'quote".txt',
  'back\\slash.txt',
  'new\nline.txt',
  'tab\there.txt',
  'turned\u202etxt.exe',
  'überall.txt',
  `${'long/'.repeat(40)}name.txt`,
]
const CHANGES: readonly (readonly [string | undefined, string])[] = [
  ['one\ntwo\n', 'one\n2\n'],
  [undefined, 'fresh\n'],
  [undefined, ''],
  ['no end', 'no end either'],
  ['--- a/x\n+++ b/x\n', '\x1b[2J--- b/y\r\n\n'],
]

test.each([
  ['patch', ['-p1', '--silent', '-i', '../all.patch']],
  ['git', ['apply', '--whitespace=nowarn', '../all.patch']],
])('%s reproduces the changes of a Session', async (program, args) => {
  const root = await freshFolder()
  const files = PATHS.flatMap((path, at) =>
    CHANGES.map(([before, after], which) => ({ path: `${at}-${which}/${path}`, before, after })),
  )
  await mkdir(join(root, 'files'))
  for (const { path, before } of files) {
    await mkdir(join(root, 'files', dirname(path)), { recursive: true })
    if (before !== undefined) await writeFile(join(root, 'files', path), before)
  }
  const patches = files.map(async ({ path, before, after }) =>
    patchOf({
      path,
      change: before === undefined ? 'created' : 'changed',
      text: true,
      diff: await unifiedDiff('a name for people', before ?? '', after),
    }),
  )
  await writeFile(join(root, 'all.patch'), (await Promise.all(patches)).join(''))
  await run(program, args, { cwd: join(root, 'files') })
  for (const { path, after } of files) {
    expect(await readFile(join(root, 'files', path), 'utf8')).toBe(after)
  }
})

test('binary content is named, and an unchanged file is not', () => {
  const about = { path: 'a.bin', diff: 'a.bin: the content is not text, or is missing.\n' } as const
  expect(patchOf({ ...about, change: 'changed', text: false })).toBe(
    'diff --git a/a.bin b/a.bin\nBinary files a/a.bin and b/a.bin differ\n',
  )
  expect(patchOf({ ...about, change: 'created', text: false })).toBe(
    'diff --git a/a.bin b/a.bin\nnew file mode 100644\nBinary files /dev/null and b/a.bin differ\n',
  )
  expect(patchOf({ path: 'a', change: 'changed', text: true, diff: '' })).toBe('')
})
