import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isAttachable, isMentionable, looksLikePath, mentionOf, mentionsIn } from './mentions.ts'
import { pathFrom } from './whole-path.ts'

test.each([
  ['What is in @img1?', ['@img1'], []],
  ['@img1, @pdf2 and @img1 again.', ['@img1', '@pdf2'], []],
  ["@img1's colours (see @txt3)", ['@img1', '@txt3'], []],
  ['Look at @./img1.png', [], ['./img1.png']],
  ['@img1.png is a file, and @img1/x too', [], ['img1.png', 'img1/x']],
  ['Compare @docs/a.pdf with @docs/a.pdf.', [], ['docs/a.pdf']],
  ['(@a.png), “@b.JPG”, @c.webp… @d.md!?', [], ['a.png', 'b.JPG', 'c.webp', 'd.md']],
  ["@a.ts's sky", [], ['a.ts']],
  ['@"a b.png" and @"c.txt"', [], ['a b.png', 'c.txt']],
  ['@"a b.zip" @"img1"', [], ['a b.zip', 'img1']],
  ['write to a@b.png or x@img1', [], []],
  ['@Makefile, @src/index.ts and @src/', [], ['Makefile', 'src/index.ts', 'src/']],
  ['@. @.. @/ @ @@ @- @... @../..', [], ['.', '..', '../']],
  ['@"@types/a.ts" @"%@"', [], ['@types/a.ts']],
  ['@@ -1,2 +1,2 @@', [], []],
  ['line\n@notes.txt\n@img2', ['@img2'], ['notes.txt']],
])('%j mentions %j and %j', (text, handles, paths) => {
  const found = mentionsIn(text)
  expect(found.handles).toEqual(handles)
  expect(found.paths.map((spellings) => spellings.at(-1))).toEqual(paths)
})

test('a sign at the end belongs to the path or to the sentence: both spellings are candidates', () => {
  expect(mentionsIn('See @notes(1).ts).').paths).toEqual([
    ['notes(1).ts).', 'notes(1).ts)', 'notes(1).ts'],
  ])
})

test('the nine extensions are attached, and a word that may be a person is not a path', () => {
  expect(['a.PNG', 'b/c.md', 'd.ts', 'Makefile', '.png'].filter(isAttachable)).toEqual([
    'a.PNG',
    'b/c.md',
  ])
  expect(['alice', 'src/x', 'a.ts', 'pytest.fixture', '.env'].filter(looksLikePath)).toEqual([
    'src/x',
    'a.ts',
  ])
})

test('each mention is a part of the text, and none is listed twice, for any text', () => {
  const piece = fc.constantFrom('@', 'img1', '"', '.png', 'a', ' ', '\n', '/', '.', '(', ')', '’s')
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const { handles, paths } = mentionsIn(text)
      expect(handles.filter((handle) => !text.includes(handle))).toEqual([])
      expect(paths.flat().filter((path) => !text.includes(path))).toEqual([])
      const shortest = paths.map((spellings) => spellings.at(-1))
      expect(new Set([...handles, ...shortest]).size).toBe(handles.length + paths.length)
    }),
  )
})

test('the word for a path mentions exactly that path, for any path that a word can name', () => {
  const piece = fc.constantFrom(
    '@',
    'img1',
    '~',
    '"',
    '.',
    '/',
    ' ',
    'a',
    '$b',
    ')',
    '’s',
    'é',
    '-',
  )
  const paths = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 8 }).map((all) => all.join('')),
    fc.string({ unit: 'binary', minLength: 1 }),
  )
  const relative = paths.filter((path) => isMentionable(path) && !path.startsWith('/'))
  fc.assert(
    fc.property(relative, (path) => {
      const { handles, paths: words } = mentionsIn(`See ${mentionOf(path)} now`)
      const [spelled = ''] = words[0] ?? []
      expect([handles, words.length, pathFrom('/w', spelled)]).toEqual([[], 1, join('/w', path)])
    }),
  )
  expect(['img1', '@types/a.ts', '~/a.ts', 'a b', '../../'].map(mentionOf)).toEqual([
    '@"img1"',
    '@"@types/a.ts"',
    '@./~/a.ts',
    '@"a b"',
    '@../../',
  ])
})

test('a long text is searched within the time limit', () => {
  for (const long of ['@a.'.repeat(300_000), `@a.png${'.'.repeat(1_000_000)}`]) {
    expect(mentionsIn(long)).toEqual({ handles: [], paths: [] })
  }
  const many = Array.from({ length: 5_000 }, (_, at) => `@${at}.png`).join(' ')
  expect(mentionsIn(many).paths.length).toBe(100)
})
