import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff, unifiedDiff } from './unified-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '-x', '+y', ' z', '@@ -1 +1 @@', 'd\r'))
const text = fc
  .tuple(lines, fc.boolean())
  .map(([all, ended]) => all.join('\n') + (ended && all.length > 0 ? '\n' : ''))

test('applied to the first text it gives the second', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      expect(applied(before, unifiedDiff('x', before, after))).toBe(after)
    }),
    { numRuns: 2_000 },
  )
})

test('applied to a long text with a few changes it gives the second', () => {
  const edit = fc.tuple(fc.nat({ max: 299 }), fc.constantFrom('drop', 'double', 'change'))
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 12 }), (edits) => {
      const before = Array.from({ length: 300 }, (_, i) => `line ${i % 40}\n`)
      const after = before.flatMap((line, at) => {
        const how = edits.find(([where]) => where === at)?.[1]
        if (how === 'drop') return []
        if (how === 'double') return [line, line]
        return how === 'change' ? [`not ${line}`] : [line]
      })
      const diff = unifiedDiff('x', before.join(''), after.join(''))
      expect(applied(before.join(''), diff)).toBe(after.join(''))
      expect(diff.split('\n').length).toBeLessThan(12 * 12)
    }),
    { numRuns: 300 },
  )
})

test('texts with nothing in common are replaced as a whole, in little time', () => {
  const before = Array.from({ length: 20_000 }, (_, i) => `old ${i}\n`).join('')
  const after = Array.from({ length: 20_000 }, (_, i) => `new ${i}\n`).join('')
  const diff = unifiedDiff('x', before, after)
  expect(diff).toContain('@@ -1,20000 +1,20000 @@')
  expect(applied(before, diff)).toBe(after)
})

test('changes are counted, and placed by lines of the second text', () => {
  const summary = (before: string, after: string) => {
    const { added, removed, places } = lineDiff(before, after)
    return [added, removed, ...places.map(({ from, to }) => `${from}-${to}`)]
  }
  expect(summary('a\nb\nc\n', 'a\nb\nc\n')).toEqual([0, 0])
  expect(summary('a\nb\nc\nd\n', 'a\nB\nBB\nc\nD\n')).toEqual([3, 2, '2-3', '5-5'])
  expect(summary('a\nb\nc\n', 'a\nc\n')).toEqual([0, 1, '2-2'])
  expect(summary('a\nb\nc\n', 'a\nb\n')).toEqual([0, 1, '2-2'])
  expect(summary('a\n', '')).toEqual([0, 1, '1-1'])
  expect(summary('', 'a\nb')).toEqual([2, 0, '1-2'])
  fc.assert(
    fc.property(text, text, (before, after) => {
      const { added, removed, places, unified } = lineDiff(before, after)
      const marked = (mark: string) =>
        unified('x')
          .split('\n')
          .slice(2)
          .filter((line) => line.startsWith(mark)).length
      expect([added, removed]).toEqual([marked('+'), marked('-')])
      expect(places.every(({ from, to }) => from >= 1 && to >= from)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('the output equals that of diff -u', () => {
  const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n'
  expect(unifiedDiff('dir/file.txt', before, before.replace('five', 'FIVE') + 'nine')).toBe(
    `--- a/dir/file.txt
+++ b/dir/file.txt
@@ -2,7 +2,8 @@
 two
 three
 four
-five
+FIVE
 six
 seven
 eight
+nine
\\ No newline at end of file
`,
  )
  expect(unifiedDiff('x', '', 'a\n')).toBe('--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n')
  expect(unifiedDiff('x', 'a', 'a\n')).toBe(
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n',
  )
  expect(unifiedDiff('x', 'same\n', 'same\n')).toBe('')
})

/** Applies a diff as strictly as possible: every line and every count must be right. */
function applied(before: string, diff: string): string {
  if (diff === '') return before
  const old = before.split(/(?<=\n)/).filter((line) => line !== '')
  const summary = diff.split('\n').slice(2, -1)
  const out: string[] = []
  let at = 0
  for (let i = 0; i < summary.length;) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(summary[i++] ?? '')
    expect(header).not.toBeNull()
    const [oldStart, oldCount, newStart, newCount] = [1, 2, 3, 4].map((group) =>
      Number(header?.[group] ?? 1),
    ) as [number, number, number, number]
    const from = oldCount === 0 ? oldStart : oldStart - 1
    out.push(...old.slice(at, from))
    expect(out.length).toBe(newCount === 0 ? newStart : newStart - 1)
    at = from
    let [left, right] = [0, 0]
    while (left < oldCount || right < newCount) {
      const mark = summary[i]?.[0]
      const bare = summary[i + 1]?.startsWith('\\') === true
      const line = (summary[i] ?? '').slice(1) + (bare ? '' : '\n')
      i += bare ? 2 : 1
      if (mark === '+') out.push(line)
      else expect(old[at++]).toBe(line)
      if (mark === ' ') out.push(line)
      left += mark === '+' ? 0 : 1
      right += mark === '-' ? 0 : 1
    }
    expect([left, right]).toEqual([oldCount, newCount])
  }
  return [...out, ...old.slice(at)].join('')
}
