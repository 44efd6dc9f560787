import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { lineDiff, unifiedDiff } from './unified-diff.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', '', '-x', '+y', ' z', '@@ -1 +1 @@', 'd\r'))
const text = fc
  .tuple(lines, fc.boolean())
  .map(([all, ended]) => all.join('\n') + (ended && all.length > 0 ? '\n' : ''))

test('applying a diff to the first text gives the second', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      expect(applied(before, await unifiedDiff('x', before, after))).toBe(after)
    }),
    { numRuns: 2_000 },
  )
})

test('applying a diff of a long text with a few changes gives the second', async () => {
  const edit = fc.tuple(fc.nat({ max: 299 }), fc.constantFrom('drop', 'double', 'change'))
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { maxLength: 12 }), async (edits) => {
      const before = Array.from({ length: 300 }, (_, i) => `line ${i % 40}\n`)
      const after = before.flatMap((line, at) => {
        const how = edits.find(([where]) => where === at)?.[1]
        if (how === 'drop') return []
        if (how === 'double') return [line, line]
        return how === 'change' ? [`not ${line}`] : [line]
      })
      const diff = await unifiedDiff('x', before.join(''), after.join(''))
      expect(applied(before.join(''), diff)).toBe(after.join(''))
      expect(diff.split('\n').length).toBeLessThan(12 * 12)
    }),
    { numRuns: 300 },
  )
})

test('texts that have nothing in common are replaced completely, even if they are long', async () => {
  const before = Array.from({ length: 20_000 }, (_, i) => `old ${i}\n`).join('')
  const after = Array.from({ length: 20_000 }, (_, i) => `new ${i}\n`).join('')
  const diff = await unifiedDiff('x', before, after)
  expect(diff).toContain('@@ -1,20000 +1,20000 @@')
  expect(applied(before, diff)).toBe(after)
})

test('above a thousand changes the lines from the first to the last of them are replaced', async () => {
  const ordered = Array.from({ length: 1_200 }, (_, i) => `line ${i}\n`)
  const texts = (middle: readonly string[]) => ['start\n', ...middle, 'end\n'].join('')
  const [before, after] = [texts(ordered), texts(ordered.toReversed())]
  const diff = await unifiedDiff('x', before, after)
  expect(diff.split('\n').slice(2, 5)).toEqual(['@@ -1,1202 +1,1202 @@', ' start', '-line 0'])
  expect(diff.match(/^@@/gm)).toHaveLength(1)
  expect(await lineDiff(before, after)).toMatchObject({ addedLines: 1_200, removedLines: 1_200 })
  expect(applied(before, diff)).toBe(after)
})

test('changes are counted, and located by lines of the second text', async () => {
  const summaryOf = async (before: string, after: string) => {
    const { addedLines, removedLines, places } = await lineDiff(before, after)
    return [addedLines, removedLines, ...places.map(({ from, to }) => `${from}-${to}`)]
  }
  expect(await summaryOf('a\nb\nc\n', 'a\nb\nc\n')).toEqual([0, 0])
  expect(await summaryOf('a\nb\nc\nd\n', 'a\nB\nBB\nc\nD\n')).toEqual([3, 2, '2-3', '5-5'])
  expect(await summaryOf('a\nb\nc\n', 'a\nc\n')).toEqual([0, 1, '2-2'])
  expect(await summaryOf('a\nb\nc\n', 'a\nb\n')).toEqual([0, 1, '2-2'])
  expect(await summaryOf('a\n', '')).toEqual([0, 1, '1-1'])
  expect(await summaryOf('', 'a\nb')).toEqual([2, 0, '1-2'])
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const { addedLines, removedLines, places, toPatch } = await lineDiff(before, after)
      const marked = (mark: string) =>
        toPatch('x')
          .split('\n')
          .slice(2)
          .filter((line) => line.startsWith(mark)).length
      expect([addedLines, removedLines]).toEqual([marked('+'), marked('-')])
      expect(places.every(({ from, to }) => from >= 1 && to >= from)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('the output is that of diff -u', async () => {
  const before = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n'
  expect(await unifiedDiff('dir/file.txt', before, before.replace('five', 'FIVE') + 'nine')).toBe(
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
  expect(await unifiedDiff('x', '', 'a\n')).toBe('--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+a\n')
  expect(await unifiedDiff('x', 'a', 'a\n')).toBe(
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n',
  )
  expect(await unifiedDiff('x', 'same\n', 'same\n')).toBe('')
})

/** Applies a diff strictly: every line and every count must be correct. */
function applied(before: string, diff: string): string {
  if (diff === '') return before
  const old = before.split(/(?<=\n)/).filter((line) => line !== '')
  const rows = diff.split('\n').slice(2, -1)
  const out: string[] = []
  let at = 0
  for (let i = 0; i < rows.length;) {
    const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(rows[i++] ?? '')
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
      const mark = rows[i]?.[0]
      const bare = rows[i + 1]?.startsWith('\\') === true
      const line = (rows[i] ?? '').slice(1) + (bare ? '' : '\n')
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
