import { expect, test } from 'vitest'
import { droppedPaths } from './dropped-paths.ts'

test.each([
  ['/home/a/harbour.png', ['/home/a/harbour.png']],
  ['/home/a/my harbour.png', ['/home/a/my harbour.png']],
  [String.raw`/home/a/my\ harbour.png `, ['/home/a/my harbour.png']],
  [`'/home/a/my harbour.png'`, ['/home/a/my harbour.png']],
  [`"/home/a/it's.png" '/b.jpg'`, ["/home/a/it's.png", '/b.jpg']],
  ['file:///home/a/my%20harbour.png', ['/home/a/my harbour.png']],
  ['file:///a.png\nfile:///b.pdf\n', ['/a.png', '/b.pdf']],
  ['~/notes.md', ['~/notes.md']],
  ['harbour.png', ['harbour.png']],
  ['shots/harbour.webp', ['shots/harbour.webp']],
])('%j names files', (text, paths) => {
  expect(droppedPaths(text)).toEqual(paths)
})

test.each([
  'README.md',
  'look at /home/a/harbour.png',
  'https://example.org/a.png',
  'file://server/share/a.png',
  '/home/a/program.exe',
  '/a.png and more',
  '"/a.png',
  '//comment.png',
  '',
])('%j is text', (text) => {
  expect(droppedPaths(text)).toBeUndefined()
})
