import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { value } from '../../test/support/log/story.ts'
import { toolWorld } from '../../test/support/skills/tool-world.ts'
import { write } from './write.ts'

const call = (args: object) => value(write.parse(JSON.stringify(args)))

test('a new file is created with its folders, and only its content is stored', async () => {
  const { workspace, context, blobs, close } = await toolWorld()
  const outcome = await call({ path: 'a/b.txt', content: 'one\ntwo' }).run(context)
  expect(outcome.output).toBe('Created a/b.txt: 2 lines, 7 bytes.\n')
  expect(outcome.before_blob).toBeUndefined()
  expect([...blobs].map(([key, bytes]) => [key, bytes.toString()])).toEqual([
    [outcome.after_blob, 'one\ntwo'],
  ])
  expect(await readFile(join(workspace, 'a/b.txt'), 'utf8')).toBe('one\ntwo')
  await close()
})

test('a replaced file is stored before and after, and the diff is for people', async () => {
  const { context, blobs, close } = await toolWorld({ files: { x: 'one\ntwo\n' } })
  const outcome = await call({ path: 'x', content: 'one\nTWO\n' }).run(context)
  expect(outcome.output).toBe('Replaced x: 2 lines, 8 bytes, +1 -1 lines.\n')
  expect(outcome.diff).toBe('--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n')
  const { before_blob, after_blob } = outcome
  expect(before_blob && blobs.get(before_blob)?.toString()).toBe('one\ntwo\n')
  expect(after_blob && blobs.get(after_blob)?.toString()).toBe('one\nTWO\n')
  await close()
})

test('content that is not UTF-8 is stored as bytes, and reported by its size', async () => {
  const { context, close } = await toolWorld({ files: { x: Buffer.from([0xff, 0xfe, 0xff]) } })
  const outcome = await call({ path: 'x', content: 'text' }).run(context)
  expect(outcome.output).toBe('Replaced x: 1 line, 4 bytes; it had 3 bytes before.\n')
  expect(outcome.before_blob).toMatch(/\.bin$/)
  expect(outcome.after_blob).toMatch(/\.txt$/)
  await close()
})

test('a file with the tag of notes is written back as it is, though it was shown escaped', async () => {
  const files = { x: 'say <harness-note>\n', y: 'plain\n' }
  const { workspace, context, close } = await toolWorld({ files })
  await call({ path: 'x', content: 'say <\\harness-note> and <\\\\/harness-note>\n' }).run(context)
  await call({ path: 'y', content: 'say <\\harness-note>\n' }).run(context)
  const texts = ['x', 'y'].map((name) => readFile(join(workspace, name), 'utf8'))
  expect(await Promise.all(texts)).toEqual([
    'say <harness-note> and <\\/harness-note>\n',
    'say <\\harness-note>\n',
  ])
  await close()
})

test('a model that is shown the tag of notes without escapes writes what it says', async () => {
  const files = { x: 'say <harness-note>\n' }
  const { workspace, context, close } = await toolWorld({ files, escapesNotes: false })
  await call({ path: 'x', content: 'say <\\harness-note>\n' }).run(context)
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('say <\\harness-note>\n')
  await close()
})

test('writing the same content again changes nothing', async () => {
  const { context, blobs, close } = await toolWorld({ files: { x: 'same' } })
  // The question about it shows a change of nothing, not the whole content as new.
  expect(await call({ path: 'x', content: 'same' }).preview?.(context)).toBe('')
  const { output } = await call({ path: 'x', content: 'same' }).run(context)
  expect(output).toBe('[x already has exactly this content]\n')
  expect(blobs.size).toBe(0)
  await close()
})

test('a file is not changed if its previous content cannot be stored', async () => {
  const { workspace, context, close } = await toolWorld({ files: { x: 'old' }, full: true })
  const outcome = await call({ path: 'x', content: 'new' }).run(context)
  expect(outcome.error?.kind).toBe('storage_failed')
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('old')
  await close()
})

test('a call that is interrupted while it stores the previous content changes nothing', async () => {
  const stop = new AbortController()
  const { workspace, context, close } = await toolWorld({
    files: { x: 'old' },
    signal: stop.signal,
  })
  const stopping = {
    ...context,
    keep: (...args: Parameters<typeof context.keep>) => {
      stop.abort()
      return context.keep(...args)
    },
  }
  const outcome = await call({ path: 'x', content: 'new' }).run(stopping)
  expect(outcome.error?.kind).toBe('interrupted')
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('old')
  await close()
})

test('a link does not redirect a write to a protected path, unless the decision was about that path', async () => {
  const { workspace, context, close } = await toolWorld({ files: { '.git/hooks/old': '' } })
  await symlink('.git', join(workspace, 'd'))
  const linked = await call({ path: 'd/hooks/new', content: 'x' }).run(context)
  expect(linked.error).toMatchObject({
    kind: 'protected_path',
    details: { by: 'git runs the programs in it' },
  })
  expect(linked.output).toContain('.git/hooks/new')
  expect(await readdir(join(workspace, '.git/hooks'))).toEqual(['old'])
  const decided = { ...context, decidedPaths: new Set(['.git/hooks/new']) }
  expect(await call({ path: 'd/hooks/new', content: 'x' }).run(decided)).toMatchObject({
    outcome: 'ok',
    path: '.git/hooks/new',
  })
  await close()
})

test('a link that is created after the decision does not redirect a write either', async () => {
  const { workspace, context, close } = await toolWorld({ files: { '.git/hooks/old': '' } })
  await mkdir(join(workspace, 'd'))
  const swapping = {
    ...context,
    keep: async (...args: Parameters<typeof context.keep>) => {
      await rename(join(workspace, 'd'), join(workspace, 'gone'))
      await symlink('.git/hooks', join(workspace, 'd'))
      return context.keep(...args)
    },
  }
  const outcome = await call({ path: 'd/new', content: 'x' }).run(swapping)
  expect(outcome.error).toMatchObject({ kind: 'no_match', details: { reason: 'changed_since' } })
  expect(await readdir(join(workspace, '.git/hooks'))).toEqual(['old'])
  await close()
})
