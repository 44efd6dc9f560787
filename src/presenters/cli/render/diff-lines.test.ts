import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from '../../../encoding/unified-diff.ts'
import { lineWidth, type Line, type Style } from '../text/cell-width.ts'
import { diffLines } from './diff-lines.ts'

test('a diff has bold names, cyan hunks, green additions and red removals', async () => {
  const diff = await unifiedDiff('dir/x.txt', 'one\ntwo\nthree', 'one\n2\nthree\n')
  expect(styledLines(diffLines(diff, 80))).toEqual([
    ['bold', '--- a/dir/x.txt'],
    ['bold', '+++ b/dir/x.txt'],
    ['cyan', '@@ -1,3 +1,3 @@'],
    ['plain', ' one'],
    ['red', '-two'],
    ['red', '-three'],
    ['dim', '\\ No newline at end of file'],
    ['green', '+2'],
    ['green', '+three'],
  ])
})

test('lines that look like names or hunks are changes if the hunk counts them', async () => {
  const diff = await unifiedDiff('x', '-- a\n@@ -1 +1 @@\n', '++ b\n')
  expect(styledLines(diffLines(diff, 80))).toEqual([
    ['bold', '--- a/x'],
    ['bold', '+++ b/x'],
    ['cyan', '@@ -1,2 +1 @@'],
    ['red', '--- a'],
    ['red', '-@@ -1 +1 @@'],
    ['green', '+++ b'],
  ])
})

test('text outside a diff is plain', async () => {
  const text = '- a list\n+ of signs\n--- \n@@ -1 +1 @@\n\n'
  expect(styledLines(diffLines(text, 80)).map(([style]) => style)).toEqual(Array(5).fill('plain'))
  const around = `- before\n${await unifiedDiff('x', 'a\n', 'b\n')}+ after\n[1 more line]\n`
  expect(styledLines(diffLines(around, 80)).map(([style]) => style)).toEqual([
    'plain',
    'bold',
    'bold',
    'cyan',
    'red',
    'green',
    'plain',
    'plain',
  ])
  expect(diffLines('', 80)).toEqual([])
})

test('a truncated diff ends where it is cut', () => {
  const cut = '--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n one\n-two\n[The rest is not shown.]\n- three\n'
  expect(styledLines(diffLines(cut, 80)).map(([style]) => style)).toEqual([
    'bold',
    'bold',
    'cyan',
    'plain',
    'red',
    'plain',
    'plain',
  ])
})

test('the lines that version control tools write above a diff are bold too', () => {
  const diff =
    'diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n'
  expect(styledLines(diffLines(diff, 80)).map(([style]) => style)).toEqual([
    'bold',
    'bold',
    'bold',
    'bold',
    'cyan',
    'green',
  ])
})

test('a long line is wrapped in its colour, and invisible characters are escaped', async () => {
  const diff = await unifiedDiff('x', '', `${'y'.repeat(25)}\u001b[2J\r\n`)
  expect(styledLines(diffLines(diff, 20)).slice(3)).toEqual([
    ['green', `+${'y'.repeat(19)}`],
    ['green', 'yyyyyy\\u{1b}[2J\\u{d}'],
  ])
})

const anyLines = fc
  .array(fc.constantFrom('', 'a', 'b\r', '-- c', '++ d', '@@ -1 +1 @@', 'e '.repeat(30)))
  .map((lines) => lines.join('\n'))

test('every line of a diff is classified by its effect', async () => {
  await fc.assert(
    fc.asyncProperty(anyLines, anyLines, async (before, after) => {
      const diff = await unifiedDiff('x', before, after)
      for (const line of diffLines(diff, 30)) expect(lineWidth(line)).toBeLessThanOrEqual(30)
      const shown = styledLines(diffLines(diff, 1_000)).slice(2)
      expect(shown.filter(([style]) => style === 'bold')).toEqual([])
      for (const [style, text] of shown) {
        const sign = text.charAt(0)
        expect(style).toBe(
          ({ '+': 'green', '-': 'red', '@': 'cyan', '\\': 'dim' } as Record<string, string>)[
            sign
          ] ?? 'plain',
        )
      }
    }),
  )
})

function styledLines(lines: readonly Line[]): [string, string][] {
  return lines.map((line) => [nameOf(line[0]?.style ?? {}), line.map(({ text }) => text).join('')])
}

function nameOf({ bold, dim, colour }: Style): string {
  if (bold === true) return 'bold'
  return dim === true ? 'dim' : (colour ?? 'plain')
}
