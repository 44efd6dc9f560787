import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { mentionsIn } from './mentions.ts'

test.each([
  ['What is in @img1?', ['@img1'], []],
  ['@img1, @pdf2 and @img1 again.', ['@img1', '@pdf2'], []],
  ["@img1's colours (see @txt3)", ['@img1', '@txt3'], []],
  ['Look at @./img1.png', [], ['./img1.png']],
  ['@img1.png is a file, @img1/x is none', [], ['img1.png']],
  ['Compare @docs/a.pdf with @docs/a.pdf.', [], ['docs/a.pdf']],
  ['(@a.png), “@b.JPG”, @c.webp… @d.md!?', [], ['a.png', 'b.JPG', 'c.webp', 'd.md']],
  ["@a.png's sky", [], ['a.png']],
  ['@"a b.png" and @"c.txt"', [], ['a b.png', 'c.txt']],
  ['@"a b.zip" @"img1"', [], []],
  ['write to a@b.png or x@img1', [], []],
  ['@someone, @img0, @img01, @img1x, @link-1, @', [], []],
  ['@a.tar.gz @.png @a.png.exe @folder/', [], []],
  ['line\n@notes.txt\n@img2', ['@img2'], ['notes.txt']],
])('%j mentions %j and %j', (text, handles, paths) => {
  expect(mentionsIn(text)).toEqual({ handles, paths })
})

test('whatever a text contains, each mention is part of it, and none is repeated', () => {
  const piece = fc.constantFrom('@', 'img1', '"', '.png', 'a', ' ', '\n', '/', '.', '(', ')', '’s')
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece).map((all) => all.join('')),
  )
  fc.assert(
    fc.property(texts, (text) => {
      const { handles, paths } = mentionsIn(text)
      expect(handles.filter((handle) => !text.includes(handle))).toEqual([])
      expect(paths.filter((path) => !text.includes(path))).toEqual([])
      expect(new Set([...handles, ...paths]).size).toBe(handles.length + paths.length)
    }),
  )
})

test('the time for a long text is linear in its length', () => {
  for (const long of ['@a.'.repeat(300_000), `@a.png${'.'.repeat(1_000_000)}`]) {
    expect(mentionsIn(long)).toEqual({ handles: [], paths: [] })
  }
  const many = Array.from({ length: 5_000 }, (_, at) => `@${at}.png`).join(' ')
  expect(mentionsIn(many).paths.length).toBe(100)
})
