import { expect, test } from 'vitest'
import { relatedTests, testsWithin } from './related-tests.ts'

const TREE = new Map([
  ['src/log/line.ts', 'export const a = 1\n'],
  ['src/log/line.test.ts', "import { a } from './line.ts'\n"],
  ['src/log/append.ts', "import { a } from './line.ts'\n"],
  ['src/log/append.test.ts', "const { a } = await import('./append.ts')\n"],
  ['src/log/append.long.test.ts', "import { a } from './append.ts'\n"],
  ['src/blobs/store.ts', "import type { A } from '../log/line.ts'\n"],
  ['src/blobs/store.test.ts', "import { s } from './store.ts'\n"],
  ['src/blobs/line-user.test.ts', "import { a } from '../log/line.ts'\n"],
  ['src/host/other.test.ts', 'export {}\n'],
  ['test/vectors/logs.test.ts', "const file = 'logs/good.jsonl'\n"],
  ['test/pins/events.test.ts', 'export {}\n'],
])

const paths = (...changed: string[]) =>
  relatedTests(TREE, changed).map(({ path, distance }) => `${distance} ${path}`)

test('the tests of a change are those that import it, nearest first', () => {
  expect(paths('src/log/line.ts')).toEqual([
    '1 src/log/line.test.ts',
    '1 src/blobs/line-user.test.ts',
    '2 src/log/append.test.ts',
    '2 src/blobs/store.test.ts',
  ])
})

test('a changed test is related to itself, unless it is a long one', () => {
  expect(paths('src/host/other.test.ts', 'src/log/append.long.test.ts')).toEqual([
    '0 src/host/other.test.ts',
  ])
})

test('a changed snapshot or data file is related to the test that uses it, and a document to none', () => {
  expect(paths('test/pins/__snapshots__/events.test.ts.snap')).toEqual([
    '0 test/pins/events.test.ts',
  ])
  expect(paths('test/vectors/logs/good.jsonl')).toEqual(['0 test/vectors/logs.test.ts'])
  expect(paths('docs/library.md')).toEqual([])
})

test('as many of the nearest tests run as fit, and every changed one', () => {
  const related = [
    { path: 'test/slow.test.ts', distance: 0 },
    { path: 'src/a.test.ts', distance: 1 },
    { path: 'test/b.test.ts', distance: 1 },
    { path: 'src/c.test.ts', distance: 2 },
  ]
  const durations = new Map([
    ['test/slow.test.ts', 8],
    ['src/a.test.ts', 1.5],
  ])
  expect(testsWithin(related, 5, { workers: 2, durations })).toEqual([
    'test/slow.test.ts',
    'src/a.test.ts',
  ])
  expect(testsWithin(related, 6, { workers: 2, durations })).toEqual([
    'test/slow.test.ts',
    'src/a.test.ts',
    'src/c.test.ts',
  ])
  expect(testsWithin(related, 1, { workers: 2, durations })).toEqual(['test/slow.test.ts'])
})
