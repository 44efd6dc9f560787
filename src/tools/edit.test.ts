import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { value } from '../../test/support/story.ts'
import { toolWorld } from '../../test/support/tool-world.ts'
import { edit } from './edit.ts'

async function editing(content: string | Buffer, args: object) {
  const { workspace, context, close } = await toolWorld({ files: { x: content } })
  const call = value(edit.parse(JSON.stringify({ path: 'x', ...args })))
  const outcome = await call.run(context)
  const after = await readFile(join(workspace, 'x'))
  await close()
  return { outcome, after: after.toString('latin1') }
}

test('one piece of text is replaced, and the change is shown', async () => {
  const { outcome, after } = await editing('a\nb\nc\n', { old_text: 'b\n', new_text: 'B\nBB\n' })
  expect(after).toBe('a\nB\nBB\nc\n')
  expect(outcome.output).toBe('--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n')
  expect(outcome.before_blob).not.toBe(outcome.after_blob)
})

test('text that occurs more than once is refused with its lines, even if it overlaps', async () => {
  const twice = await editing('one\ntwo\none\n', { old_text: 'one', new_text: '1' })
  expect(twice.outcome.error).toMatchObject({
    kind: 'not_unique',
    details: { count: 2, lines: [1, 3] },
  })
  const overlapping = await editing('aaa', { old_text: 'aa', new_text: 'b' })
  expect(overlapping.outcome.error).toMatchObject({ kind: 'not_unique', details: { count: 2 } })
  const many = await editing('x\n'.repeat(50), { old_text: 'x', new_text: 'y' })
  expect(many.outcome.error?.details).toEqual({
    count: 50,
    lines: Array.from({ length: 20 }, (_, i) => i + 1),
  })
})

test('all occurrences are replaced on request, each once', async () => {
  const all = { replace_all: true }
  expect((await editing('a b a', { old_text: 'a', new_text: 'aa', ...all })).after).toBe('aa b aa')
  expect((await editing('aaaa', { old_text: 'aa', new_text: 'b', ...all })).after).toBe('bb')
  expect((await editing('aaa', { old_text: 'aa', new_text: '', ...all })).after).toBe('a')
})

test('special characters are taken literally', async () => {
  const { after } = await editing('a.*b $& c', { old_text: '.*', new_text: '$&$1' })
  expect(after).toBe('a$&$1b $& c')
})

test('text that does not occur is refused with the line that was probably meant', async () => {
  const content = 'first\n\tconst total = sum(a, b)\nlast\n'
  const spaces = await editing(content, { old_text: '  const total = sum(a, b)', new_text: 'x' })
  expect(spaces.outcome.error).toMatchObject({ kind: 'no_match', details: { nearest_line: 2 } })
  expect(spaces.outcome.output).toContain('nearest match is line 2: const total = sum(a, b)')
  const alike = await editing(content, { old_text: 'const totals = sum(a, c)', new_text: 'x' })
  expect(alike.outcome.error?.details).toEqual({ nearest_line: 2 })
  const numbered = await editing(content, { old_text: '     1\tfirst\n', new_text: 'x' })
  expect(numbered.outcome.output).toContain('Leave out the line numbers')
  const nothing = await editing(content, { old_text: 'zzzzqqqq', new_text: 'x' })
  expect(nothing.outcome.error?.details).toEqual({})
})

test('an edit keeps CRLF line ends', async () => {
  const { after } = await editing('a\r\nb\r\nc\r\n', { old_text: 'a\nb\n', new_text: 'x\ny\nz\n' })
  expect(after).toBe('x\r\ny\r\nz\r\nc\r\n')
})

test('bytes that are not UTF-8 stay unchanged', async () => {
  const content = Buffer.from('caf\xe9 old \xff', 'latin1')
  expect((await editing(content, { old_text: 'old', new_text: 'new' })).after).toBe(
    'caf\xe9 new \xff',
  )
})

test('a file that changes during an edit is left alone', async () => {
  const { workspace, context, close } = await toolWorld({ files: { x: 'old' } })
  const meddling = {
    ...context,
    keep: async (...args: Parameters<typeof context.keep>) => {
      await writeFile(join(workspace, 'x'), 'old, but otherwise')
      return context.keep(...args)
    },
  }
  const call = value(edit.parse('{"path":"x","old_text":"old","new_text":"new"}'))
  const { error } = await call.run(meddling)
  expect(error).toMatchObject({ kind: 'no_match', details: { reason: 'changed_since' } })
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('old, but otherwise')
  await close()
})

test('an edit that would change nothing, or has nothing to search for, is invalid', () => {
  for (const [old_text, new_text] of [
    ['same', 'same'],
    ['', 'x'],
  ]) {
    const call = edit.parse(JSON.stringify({ path: 'x', old_text, new_text }))
    expect(call).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
  }
})
