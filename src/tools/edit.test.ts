import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { value } from '../../test/support/log/story.ts'
import { toolWorld } from '../../test/support/skills/tool-world.ts'
import { edit } from './edit.ts'
import { write } from './write.ts'

async function editing(content: string | Buffer, ...edits: readonly object[]) {
  const { workspace, context, blobs, close } = await toolWorld({ files: { x: content } })
  const call = value(edit.parse(JSON.stringify({ path: 'x', edits })))
  const outcome = await call.run(context)
  const after = await readFile(join(workspace, 'x'))
  await close()
  return { outcome, blobs, after: after.toString('latin1') }
}

test('one piece of text is replaced; the model gets a line, and people a diff', async () => {
  const { outcome, after } = await editing('a\nb\nc\n', { old_text: 'b\n', new_text: 'B\nBB\n' })
  expect(after).toBe('a\nB\nBB\nc\n')
  expect(outcome.output).toBe('Edited x: 1 replacement, +2 -1 lines (lines 2-3).\n')
  expect(outcome.diff).toBe('--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n')
  expect(outcome.before_blob).not.toBe(outcome.after_blob)
})

test('several pieces are replaced in one write, whatever their order', async () => {
  const { outcome, blobs, after } = await editing(
    'a\nb\nc\nd\ne\n',
    { old_text: 'e\n', new_text: '' },
    { old_text: 'a', new_text: 'A1\nA2' },
    { old_text: 'c', new_text: 'b' },
  )
  expect(after).toBe('A1\nA2\nb\nb\nd\n')
  expect(outcome.output).toBe('Edited x: 3 replacements, +3 -3 lines (lines 1-2, 4, 5).\n')
  expect([...blobs.values()].map(String)).toEqual(['a\nb\nc\nd\ne\n', after])
})

test('the places of many replacements are counted, not listed', async () => {
  const { outcome } = await editing('x\ny\n'.repeat(50), {
    old_text: 'x',
    new_text: 'z',
    replace_all: true,
  })
  expect(outcome.output).toBe(
    'Edited x: 50 replacements, +50 -50 lines (lines 1, 3, 5, 7 and 46 more places).\n',
  )
})

test('the result of an edit or a write costs at most 60 tokens, whatever it changed', async () => {
  const lines = (word: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `  const ${word}${from + at} = await load()\n`)
  const path = 'src/presenters/cli/commands/a-file-with-a-long-name.ts'
  const [old_text, new_text] = ['hull', 'keel'].map((word) => lines(word, 90, 110).join(''))
  const before = lines('hull', 0, 200).join('')
  const calls = [
    edit.parse(JSON.stringify({ path, edits: [{ old_text, new_text }] })),
    edit.parse(
      JSON.stringify({ path, edits: [{ old_text: 'a', new_text: 'b', replace_all: true }] }),
    ),
    write.parse(JSON.stringify({ path, content: lines('mast', 0, 200).join('') })),
  ]
  for (const call of calls) {
    const { context, close } = await toolWorld({ files: { [path]: before } })
    const { output, diff = '' } = await value(call).run(context)
    const [tokens, people] = [output, diff].map((text) => Math.ceil(Buffer.byteLength(text) / 4))
    expect(tokens).toBeLessThanOrEqual(60)
    expect(people).toBeGreaterThan(300)
    await close()
  }
})

test('one edit that does not match prevents all others, and is named', async () => {
  const content = 'one\ntwo\ntwo\nthree\n'
  const good = { old_text: 'one', new_text: '1' }
  const none = await editing(content, good, { old_text: 'thre e', new_text: '3' })
  expect(none.outcome.error).toMatchObject({
    kind: 'no_match',
    details: { edits: [2], nearest_line: 4 },
  })
  expect(none.outcome.output).toBe(
    'Edit 2 of 2: old_text not found in x. The nearest match is line 4: three\nNo edit was applied.',
  )
  const two = { old_text: 'two', new_text: '2' }
  const both = await editing(content, two, good, { old_text: 'zzzzqqqq', new_text: '' })
  expect(both.outcome.error).toMatchObject({ kind: 'not_unique', details: { edits: [1, 3] } })
  expect(both.outcome.output).toContain('Edit 1 of 3: old_text occurs 2 times')
  expect(both.outcome.output).toContain('Edit 3 of 3: old_text not found')
  expect([none.after, both.after]).toEqual([content, content])
})

test('edits that share text are refused, and neighbours are not', async () => {
  const shared = await editing(
    'a\nbcd\n',
    { old_text: 'cd', new_text: 'x' },
    { old_text: 'a', new_text: 'y' },
    { old_text: 'bc', new_text: 'z' },
  )
  expect(shared.outcome.error).toMatchObject({
    kind: 'invalid_args',
    details: { reason: 'overlap', edits: [1, 3], line: 2 },
  })
  expect(shared.outcome.output).toBe(
    'Edits 1 and 3 overlap at line 2 of x. No edit was applied. Combine them into one edit.',
  )
  expect(shared.after).toBe('a\nbcd\n')
  const next = [
    { old_text: 'ab', new_text: 'x' },
    { old_text: 'cd', new_text: 'y' },
  ]
  expect((await editing('abcd', ...next)).after).toBe('xy')
})

test('an edit does not see the result of another one', async () => {
  const { outcome, after } = await editing(
    'a\n',
    { old_text: 'a', new_text: 'b' },
    { old_text: 'b', new_text: 'c' },
  )
  expect(after).toBe('a\n')
  expect(outcome.error?.details).toEqual({ reason: 'made_by_edit', source: 1, edits: [2] })
  expect(outcome.output).toContain('It is in the new_text of edit 1')
  const own = await editing('a\n', { old_text: 'zzqq', new_text: 'zzqq and more' })
  expect(own.outcome.output).toBe('old_text not found in x. Read it again.')
  const swapped = await editing(
    'a b',
    { old_text: 'a', new_text: 'b' },
    { old_text: 'b', new_text: 'a' },
  )
  expect(swapped.after).toBe('b a')
})

test('a file does not grow beyond what can be edited again', async () => {
  const content = 'x'.repeat(1024)
  const { outcome, after } = await editing(content, {
    old_text: 'x',
    new_text: 'y'.repeat(20 * 1024),
    replace_all: true,
  })
  expect(outcome.error).toMatchObject({
    kind: 'too_large',
    details: { actual: 20 * 1024 * 1024 },
  })
  expect(after).toBe(content)
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

test('text that does not occur is refused with the line that was probably intended', async () => {
  const content = 'first\n\tconst total = sum(a, b)\nlast\n'
  const spaces = await editing(content, { old_text: '  const total = sum(a, b)', new_text: 'x' })
  expect(spaces.outcome.error).toMatchObject({ kind: 'no_match', details: { nearest_line: 2 } })
  expect(spaces.outcome.output).toContain('nearest match is line 2: const total = sum(a, b)')
  const alike = await editing(content, { old_text: 'const totals = sum(a, c)', new_text: 'x' })
  expect(alike.outcome.error?.details).toEqual({ nearest_line: 2 })
  for (const old_text of ['1\tfirst\n', '     1\tfirst\n']) {
    const numbered = await editing(content, { old_text, new_text: 'x' })
    expect(numbered.outcome.output).toContain('Omit the line numbers')
  }
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
  const racing = {
    ...context,
    keep: async (...args: Parameters<typeof context.keep>) => {
      await writeFile(join(workspace, 'x'), 'old, but otherwise')
      return context.keep(...args)
    },
  }
  const call = value(edit.parse('{"path":"x","edits":[{"old_text":"old","new_text":"new"}]}'))
  const { error } = await call.run(racing)
  expect(error).toMatchObject({ kind: 'no_match', details: { reason: 'changed_since' } })
  expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('old, but otherwise')
  await close()
})

test('an edit that would change nothing, or has nothing to search for, is invalid', () => {
  for (const [old_text, new_text, why] of [
    ['same', 'same', 'edit 2: old_text and new_text are the same'],
    ['', 'x', 'edit 2: old_text is empty'],
  ]) {
    const edits = [
      { old_text: 'a', new_text: 'b' },
      { old_text, new_text },
    ]
    const call = edit.parse(JSON.stringify({ path: 'x', edits }))
    expect(call).toMatchObject({ ok: false, error: { kind: 'invalid_args' } })
    expect(call).toMatchObject({ error: { message: expect.stringContaining(why ?? '') } })
  }
  for (const count of [0, 101]) {
    const edits = Array.from({ length: count }, () => ({ old_text: 'a', new_text: 'b' }))
    expect(edit.parse(JSON.stringify({ path: 'x', edits })).ok).toBe(false)
  }
})

test('a call in the form of an earlier surface, or with its list as a string, is understood', async () => {
  const one = { old_text: 'a', new_text: 'b' }
  for (const args of [
    { path: 'x', ...one, replace_all: true },
    { path: 'x', edits: JSON.stringify([{ ...one, replace_all: true }]) },
  ]) {
    const { workspace, context, close } = await toolWorld({ files: { x: 'a a' } })
    await value(edit.parse(JSON.stringify(args))).run(context)
    expect(await readFile(join(workspace, 'x'), 'utf8')).toBe('b b')
    await close()
  }
  for (const args of [
    { path: 'x', ...one, edits: [one] },
    { path: 'x', old_text: 'a' },
    { path: 'x', edits: 'a' },
    { path: 'x', edits: '{' },
  ]) {
    expect(edit.parse(JSON.stringify(args))).toMatchObject({ error: { kind: 'invalid_args' } })
  }
})
